# SPDX-License-Identifier: Apache-2.0
"""A place of the host that no box may reach or change: K, with a secret in it."""

import os
import secrets
import stat

from harness import Failure


class Canary:
    """t.tmp/outside/K. Its parent is watched too: a name beside it would be as bad."""

    def __init__(self, t, **files):
        self.parent = t.tmp / "outside"
        self.path = self.parent / "K"
        self.path.mkdir(parents=True)
        self.token = secrets.token_hex(16)
        for name, content in {"secret": self.token, **files}.items():
            (self.path / name).write_text(content)
        self.before = snapshot(self.parent)

    @property
    def ways(self):
        """Texts for a link that lead to K: absolute, and by a long chain upwards."""
        return str(self.path), "../" * 40 + str(self.path).lstrip("/")

    def intact(self):
        """Fail where anything in or beside K is other than it was."""
        after = snapshot(self.parent)
        if after != self.before:
            changed = sorted(set(after.items()) ^ set(self.before.items()))
            raise Failure(f"the host's files changed: {changed[:6]}")

    def unread(self, *texts):
        """Fail where the secret stands in one of these texts."""
        for text in texts:
            if self.token in (text if isinstance(text, str) else repr(text)):
                raise Failure("the secret was read")


def snapshot(folder):
    """{path: type, mode, owner, size, mtime, link target, link count, content} of a tree."""
    found = {}
    for where, below, files in os.walk(folder):
        for name in ["", *below, *files]:
            path = os.path.join(where, name)
            st = os.lstat(path)
            target = os.readlink(path) if stat.S_ISLNK(st.st_mode) else ""
            content = ""
            if stat.S_ISREG(st.st_mode) and st.st_size < 65536:
                with open(path, "rb") as file:
                    content = file.read()
            found[path] = (st.st_mode, st.st_uid, st.st_gid, st.st_size, st.st_mtime_ns,
                           target, st.st_nlink, content)
    return found
