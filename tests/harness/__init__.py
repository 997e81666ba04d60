# SPDX-License-Identifier: Apache-2.0
"""The frame of the integration, hostile and Python tests. Standard library only.

A test program is three lines beside its test modules (files named *_test.py):

    import sys; sys.path.insert(0, TESTS)          # the folder that holds harness/
    from harness import main
    sys.exit(main(__file__))

and a test is a function that takes the context (context.py) and fails by raising:

    from harness import test, Skip, check, equal

    @test(needs=("program:strace",), who=("user", "root"), timeout=30)
    def exit_code_passes_through(t):
        equal(t.husk("run", "--", "sh", "-c", "exit 7").status, 7)

Each test runs in a process of its own, two for each processor at a time, since most of what
they do is waiting; `alone=True` keeps others away, `long=True` begins before them.
What a test leaves behind (a process that outlives it) makes it fail.
Output: `ok NAME`, `not ok NAME REASON`, `skip NAME REASON`, then `1..N`.
"""

from .registry import Failure, Skip, check, contains, equal, need, test
from .survivors import unchanged
from .runner import main, usual_process

__all__ = ["Failure", "Skip", "check", "contains", "equal", "main", "need", "test",
           "unchanged", "usual_process"]
