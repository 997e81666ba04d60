# SPDX-License-Identifier: Apache-2.0
"""Run code that nobody should trust blindly in a fresh kernel sandbox on this machine.

    import husk

    r = husk.run_code("import sys; print(sys.version)")
    print(r.stdout, r.success)

    with husk.Sandbox(setup="pip install pandas") as box:
        box.write_file("data.csv", "a,b\\n1,2\\n3,4\\n")
        r = box.run_code("import pandas as pd; print(pd.read_csv('data.csv').shape)")

Each call is a box of its own: no network, no files of the host but its programs, caps on
memory, CPU and tasks, a deadline. What persists is the workspace, a directory. What the code
did and what the sandbox did are told apart in the result (ExecutionResult); raised is only
what is wrong with the call itself (SandboxError).

Programs for the kern-sandbox package run with `import husk as kern`."""

from ._errors import MountRefused, SandboxError
from ._images import Image, PullProgress, import_image, list_images, pull_image
from ._library import library as _load_library
from ._library import text_of as _text_of
from ._results import (Denial, ExecutionResult, FileInfo, Limits, SandboxFault, Spares,
                       Usage)
from ._sandbox import Sandbox, run_code

__all__ = [
    "Denial",
    "ExecutionResult",
    "FileInfo",
    "Image",
    "Limits",
    "MountRefused",
    "PullProgress",
    "Sandbox",
    "SandboxError",
    "SandboxFault",
    "Spares",
    "Usage",
    "import_image",
    "library_version",
    "list_images",
    "pull_image",
    "run_code",
]

__version__ = "0.1.0"


def library_version() -> str:
    """The version of the library that is used. SandboxError where there is none."""
    return _text_of(_load_library().husk_version())
