# SPDX-License-Identifier: Apache-2.0
"""A box whose start, run or end meets a system call that fails: no program runs unless all
that shuts it in is there, the message says what it was, and nothing is left."""

import re
import shutil

from fault import talking
from fault.injecting import Place, each_call
from fault.starting import Start, limits_of
from harness import check, equal, test
from integration import images


@test(who=("root", "user"), timeout=3600, needs=("cc",), long=True)
def a_box(t):
    start = Start(t, *limits_of(t), limited=t.who == "root")
    each_call(Place(t), start.words, start.judge, start.prepare)


@test(who=("root", "user"), timeout=3600, needs=("cc",), long=True)
def a_box_with_a_writable_root(t):
    start = Start(t, *limits_of(t), "--writable-root", limited=t.who == "root")
    each_call(Place(t), start.words, start.judge, start.prepare)


@test(who=("root", "user"), timeout=3600, needs=("cc",), long=True)
def a_box_on_the_hosts_network(t):
    start = Start(t, "--limits", "best-effort", "--network", "host")
    each_call(Place(t), start.words, start.judge, start.prepare)


@test(who=("root", "user"), timeout=3600, needs=("cc",), long=True)
def a_box_on_a_directory(t):
    root = images.make(t)
    start = Start(t, *limits_of(t), "--image", f"dir:{root}", limited=t.who == "root")
    each_call(Place(t), start.words, start.judge, start.prepare)


# Most of the layer's calls are this session's: four tests share them, beside each other.
@test(who=("root",), timeout=3600, needs=("cc",), long=True)
def an_mcp_session_first_share(t):
    mcp_session(t, 0)


@test(who=("root",), timeout=3600, needs=("cc",), long=True)
def an_mcp_session_second_share(t):
    mcp_session(t, 1)


@test(who=("root",), timeout=3600, needs=("cc",), long=True)
def an_mcp_session_third_share(t):
    mcp_session(t, 2)


@test(who=("root",), timeout=3600, needs=("cc",), long=True)
def an_mcp_session_fourth_share(t):
    mcp_session(t, 3)


def mcp_session(t, share):
    def judge(outcome, _usual):
        check(outcome.done.status in (0, 125), str(outcome))
        talking.check_answers(outcome.done, outcome.call)

    each_call(Place(t), ("mcp", *limits_of(t)), judge, few=1, stdin=talking.said(),
              share=(share, 4))


@test(who=("root", "user"), timeout=3600, needs=("cc",), long=True)
def a_setup(t):
    work = t.tmp / "work"

    def prepare():
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()

    def judge(outcome, _usual):
        ended = outcome.done
        check(ended.status in (0, 1, 125), f"status {ended.status}: {ended}")
        check(ended.status == 0 or re.search(r"^husk: .+: .+", ended.err, re.MULTILINE),
              f"no message: {ended}")
        if ended.status == 0:
            equal((work / ".deps" / "x").read_text(), "1\n", "what the setup made")

    each_call(Place(t), ("setup", *(limits_of(t) if t.who == "user" else ()), "--network",
                         "none", "--no-cache", "--workspace", work,
                         "echo 1 > /workspace/.deps/x"), judge, prepare, few=1)
