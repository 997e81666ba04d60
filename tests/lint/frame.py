# SPDX-License-Identifier: Apache-2.0
"""What every check of the source shares: its arguments, the files of the tree, and rules.

A rule looks at things and collects what is wrong; it prints one line, and one more for each
place. A rule that found nothing to look at has failed: it would pass on an empty tree."""

import argparse
import contextlib
import os
import pathlib
import subprocess
import sys

# Where the C of the project lies; tests and examples are its clients.
MODULES = ("include", "base", "seccomp", "cgroup", "oci", "runtime", "session", "cli")
C_SUFFIXES = (".c", ".h", ".S")


class Tree:
    """The tree under check: --root (for the checks' own test) and --build."""

    def __init__(self, about):
        parser = argparse.ArgumentParser(description=about, allow_abbrev=False)
        here = pathlib.Path(__file__).resolve().parents[2]
        parser.add_argument("--root", type=pathlib.Path, default=here)
        parser.add_argument("--build", type=pathlib.Path)
        options = parser.parse_args()
        self.root = options.root.resolve()
        self.build = (options.build or self.root / "build").resolve()
        self.failed = False

    def files(self, *suffixes, below=None):
        """Paths relative to the root, sorted: what git knows or would add; every file where
        this is no git tree. below: only in these top folders."""
        names = sorted(listing(self.root))
        if suffixes:
            names = [n for n in names if n.endswith(suffixes)]
        if below is not None:
            names = [n for n in names if n.split("/")[0] in below]
        return [n for n in names if (self.root / n).is_file()]

    def text(self, name):
        data = (self.root / name).read_bytes()  # carriage returns stay
        return data.decode("utf-8", "surrogateescape")

    @contextlib.contextmanager
    def rule(self, name, what="files"):
        """Collects what is wrong and prints the line when the block ends."""
        rule = Rule(name, what)
        yield rule
        if not rule.seen:
            rule.bad("", f"no {what} to look at")
        if rule.wrong:
            self.failed = True
            more = f" and {len(rule.wrong) - 1} more" if len(rule.wrong) > 1 else ""
            print(f"not ok {name} {rule.wrong[0]}{more}")
            for line in rule.wrong:
                print(f"# {line}")
        else:
            print(f"ok {name} {rule.seen} {what}")
        sys.stdout.flush()

    def exit(self):
        sys.exit(1 if self.failed else 0)


class Rule:
    def __init__(self, name, what):
        self.name, self.what = name, what
        self.seen = 0
        self.wrong = []

    def saw(self, count=1):
        self.seen += count

    def bad(self, where, text):
        self.wrong.append(f"{where}: {text}" if where else text)


def listing(root):
    git = subprocess.run(["git", "-c", f"safe.directory={root}", "-C", str(root), "ls-files",
                          "-z", "--cached", "--others", "--exclude-standard"],
                         capture_output=True, check=False)
    if git.returncode == 0 and (root / ".git").exists():
        return [os.fsdecode(n) for n in git.stdout.split(b"\0") if n]
    found = []
    for folder, below, files in os.walk(root):
        below[:] = [d for d in below if d not in (".git", "build", "__pycache__")]
        found += [os.path.relpath(os.path.join(folder, f), root) for f in files]
    return found
