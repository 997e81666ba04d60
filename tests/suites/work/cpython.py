# SPDX-License-Identifier: Apache-2.0
"""Runs modules of CPython's own tests, each in a process of its own, and prints a line for each
test, `ok NAME` or `not ok NAME WHY`. A module that ends early or hangs has a failed check
that says so."""

import subprocess
import sys
import unittest

LIMIT = 900  # seconds for one module; wide


class Lines(unittest.TestResult):
    """One line for each test that ended."""

    def __init__(self):
        super().__init__()
        self.bad = {}

    def say(self, test, why=""):
        words = " ".join(why.split())[-250:]
        print(f"not ok {test.id()} {words}" if why else f"ok {test.id()}", flush=True)

    def addSuccess(self, test):
        self.say(test)

    def addExpectedFailure(self, test, err):
        self.say(test)

    def addUnexpectedSuccess(self, test):
        self.say(test, "succeeded, unexpectedly")

    def addSkip(self, test, reason):
        if " " not in test.id():
            self.say(test, f"skipped: {reason}")

    def addError(self, test, err):
        self.say(test, self._exc_info_to_string(err, test))

    def addFailure(self, test, err):
        self.say(test, self._exc_info_to_string(err, test))

    def addSubTest(self, test, subtest, err):
        if err is not None and test.id() not in self.bad:
            self.bad[test.id()] = True
            self.say(test, self._exc_info_to_string(err, test))


def one(name):
    from test import support
    support.verbose = 0
    # The network is loopback, and what is large or slow is left out.
    support.use_resources = []
    suite = unittest.defaultTestLoader.loadTestsFromName(name)
    suite.run(Lines())


def every(names):
    count = 0
    for name in names:
        try:
            done = subprocess.run([sys.executable, __file__, "--one", name], timeout=LIMIT,
                                  stdin=subprocess.DEVNULL, capture_output=True, check=False)
            text, end = done.stdout, f"status {done.returncode}"
        except subprocess.TimeoutExpired as error:
            text, end = error.stdout or b"", "no end"
        lines = [x for x in text.decode("utf-8", "replace").splitlines()
                 if x.startswith(("ok ", "not ok "))]
        print("\n".join(lines))
        count += len(lines) + 1
        print(f"ok {name}.end" if end == "status 0" else f"not ok {name}.end {end}", flush=True)
    print(f"1..{count}")


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        one(sys.argv[2])
    else:
        every(sys.argv[1:])
