# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest that prints a line for each test, `ok NAME` or `not ok NAME WHY`."""

count = 0


def pytest_runtest_logreport(report):
    global count
    name = report.nodeid.replace(" ", "_")
    if report.failed:
        words = " ".join(str(report.longrepr).split())[-250:]
        print(f"\nnot ok {name} {report.when}: {words}")
    elif report.when == "setup" and report.skipped:
        print(f"\nnot ok {name} skipped")
    elif report.when == "call":
        print(f"\nok {name}" if report.passed else f"\nnot ok {name} skipped")
    else:
        return
    count += 1


def pytest_sessionfinish():
    print(f"\n1..{count}")
