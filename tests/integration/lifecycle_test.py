# SPDX-License-Identifier: Apache-2.0
"""The library's objects in every order: before, after, at once, with nothing, with structs of
another size. The cases are in programs/lifecycle.c."""

from harness import Failure, check, equal, test
from harness.survivors import processes_with
from integration.boxes import limits
from integration.clients import client
from integration.sessions import CLOSED, INVALID, Session


@test(timeout=120)
def cases(t):
    program = client(t, "lifecycle")
    names = t.run([program, "list"]).out.split()
    check(len(names) >= 9, names)
    kind = "best-effort" if limits(t) else "enforce"
    wrong = []
    for name in names:
        done = t.run([program, kind, t.marker, name], timeout=60)
        if done.status != 0 or done.out.split()[:2] != ["ok", name]:
            wrong.append(str(done))
        equal([pid for pid in processes_with(t.marker)], [], name)
    if wrong:
        raise Failure("; ".join(wrong))


@test
def before_and_after(t):
    """Calls on a session that was closed, or never opened."""
    with Session(t) as s:
        s.close()
        for op, members in (("run", {"argv": ["true"]}), ("list", {}), ("explain",
                                                                        {"argv": ["true"]}),
                            ("read", {"path": "61"}), ("write", {"path": "61", "data": ""})):
            answer = s.ask(op, **members)
            check(answer["code"] in (INVALID, CLOSED) and answer["message"], answer)
        equal(s.close()["code"], 0, "closed twice")


@test
def many_in_one_program(t):
    """Sessions with settings of their own do not mix."""
    with Session(t, env=["A=one"], timeout_ms=5000) as one, \
            Session(t, env=["A=two"], user="7") as two:
        for _ in range(3):
            equal(one.sh("echo $A $(id -u)")["stdout"], "one 0\n")
            equal(two.sh("echo $A $(id -u)")["stdout"], "two 7\n")
        equal(one.write("f", "1"), 0)
        equal(two.names(), {})
