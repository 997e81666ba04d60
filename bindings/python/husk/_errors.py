# SPDX-License-Identifier: Apache-2.0
"""What is raised. What happens to the code in a box never is: that is data, in
ExecutionResult.fault."""

from __future__ import annotations

from typing import Optional

__all__ = ["MountRefused", "SandboxError"]


class SandboxError(RuntimeError):
    """The call could not be made: a malformed argument, a path that leaves the workspace, a
    setup that failed, a closed sandbox, or no husk library on this machine.

    hint: the remedy, where there is one. errno: of the system call that was refused, or
    None."""

    def __init__(self, message: str, *, hint: Optional[str] = None,
                 errno: Optional[int] = None) -> None:
        super().__init__(f"{message} ({hint})" if hint else message)
        self.hint = hint
        self.errno = errno


class MountRefused(SandboxError):
    """A host path that is not shown to a box even when asked, or a target that would cover
    an essential part of it."""
