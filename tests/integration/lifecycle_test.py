# SPDX-License-Identifier: Apache-2.0
"""The library's objects in every order: before, after, at once, with nothing, with structs of
another size. The cases are in programs/lifecycle.c."""

import os
import shutil

from harness import Failure, check, contains, equal, test
from harness.survivors import processes_with
from integration.boxes import limits
from integration.clients import client
from integration.sessions import CLOSED, INVALID, SYSTEM, Session


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


def fails_everywhere(s, path, why, hint):
    for op, members in (("run", {"argv": ["true"]}), ("list", {}), ("read", {"path": "61"}),
                        ("explain", {"argv": ["true"]}), ("write", {"path": "61", "data": ""})):
        answer = s.ask(op, **members)
        equal((answer["code"], answer["where"]), (SYSTEM, path), answer)
        contains(answer["message"], why)
        contains(answer["hint"], hint)


@test
def workspaces_that_go_away(t):
    """No box works where the path does not lead, and none where somebody makes the path lead."""
    for prewarm in (0, 1):
        top = t.tmp / str(prewarm)
        work, other = top / "w", top / "other"
        other.mkdir(parents=True)
        with Session(t, workspace=str(work), prewarm=prewarm) as s:
            s.sh("echo mine >a")
            work.rename(top / "moved")
            fails_everywhere(s, str(work), "was moved away", "put the directory back")
            work.symlink_to(other)
            fails_everywhere(s, str(work), "was replaced", "put the directory back")
            work.unlink()
            work.write_text("")
            fails_everywhere(s, str(work), "was replaced", "put the directory back")
            work.unlink()
            work.mkdir()
            fails_everywhere(s, str(work), "was replaced", "put the directory back")
            work.rmdir()
            (top / "moved").rename(work)
            equal(s.sh("cat a")["stdout"], "mine\n", "it is back")
            top.rename(t.tmp / "away")
            fails_everywhere(s, str(work), "was moved away", "put the directory back")
            (t.tmp / "away").rename(top)
            shutil.rmtree(work)
            fails_everywhere(s, str(work), "was removed", "open a new session")
            work.mkdir()
            fails_everywhere(s, str(work), "was removed and made anew", "open a new session")
        equal((os.listdir(work), os.listdir(other)), ([], []), "nothing was written there")


@test
def private_workspaces_that_go_away(t):
    """What tidies up /tmp may take one."""
    with Session(t, temp_dir=str(t.tmp)) as s:
        s.sh("true")
        shutil.rmtree(s.workspace)
        fails_everywhere(s, s.workspace, "was removed", "open a new session")


@test
def links_to_a_workspace(t):
    """Where they lead is settled at the beginning."""
    for name in ("one", "two"):
        (t.tmp / name).mkdir()
    (t.tmp / "link").symlink_to("one")
    with Session(t, workspace=str(t.tmp / "link")) as s:
        s.sh("true")
        (t.tmp / "link").unlink()
        (t.tmp / "link").symlink_to("two")
        s.sh("echo x >file")
        equal((os.listdir(t.tmp / "one"), os.listdir(t.tmp / "two")), (["file"], []))


@test
def many_in_one_program(t):
    """Sessions with settings of their own do not mix."""
    with Session(t, env=["A=one"], timeout_ms=30_000) as one, \
            Session(t, env=["A=two"], user="7") as two:
        for _ in range(3):
            equal(one.sh("echo $A $(id -u)")["stdout"], "one 0\n")
            equal(two.sh("echo $A $(id -u)")["stdout"], "two 7\n")
        equal(one.write("f", "1"), 0)
        equal(two.names(), {})
