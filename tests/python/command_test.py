# SPDX-License-Identifier: Apache-2.0
"""husk setup, and --deps-readonly of husk run and husk code."""

import os
import re
import signal
import subprocess

import index
from boxes import settings
from harness import check, contains, equal, test
from harness.survivors import wait_gone, wait_there

SETUP = "echo 'V = 1' >.deps/pkg.py"


def limits(t):
    return ("--limits", "best-effort") if settings(t) else ()


def setup(t, *words, **more):
    return t.husk("setup", *limits(t), *words, **more)


def code(t, *words):
    return t.husk("code", *limits(t), "--workspace", "w", *words)


@test
def installs_for_boxes_of_the_workspace(t):
    done = setup(t, "--workspace", "w", SETUP)
    equal((done.status, done.out, done.err), (0, "", ""))
    equal(code(t, "-c", "import pkg; print(pkg.V)").out, "1\n")
    done = code(t, "--deps-readonly", "-c", "open('.deps/pkg.py', 'w')")
    equal(done.status, 1)
    contains(done.err, "Read-only file system")
    equal(code(t, "-c", "open('.deps/pkg.py', 'w')").status, 0)


@test
def second_workspace_is_served_from_the_cache(t):
    command = "head -c 16 /dev/urandom | od -A n -t x1 >.deps/who"
    for place in ("a", "b"):
        equal(setup(t, "--workspace", place, command).status, 0)
    equal((t.tmp / "a/.deps/who").read_text(), (t.tmp / "b/.deps/who").read_text())
    equal(setup(t, "--workspace", "c", "--no-cache", command).status, 0)
    check((t.tmp / "a/.deps/who").read_text() != (t.tmp / "c/.deps/who").read_text(),
          "from the cache")
    check((t.tmp / "home/.cache/husk/setup").is_dir(), "no cache in ~/.cache")
    equal(setup(t, "--workspace", "d", command, env={"XDG_CACHE_HOME": str(t.tmp / "x")})
          .status, 0)
    check((t.tmp / "x/husk/setup").is_dir(), "no cache in $XDG_CACHE_HOME")


@test
def root_may_be_written_to_where_that_is_asked(t):
    """As package managers of a system do; the changes go with the box."""
    command = "echo kept >/usr/bin/husk-new && cp /usr/bin/husk-new .deps/"
    done = setup(t, "--workspace", "w", command)
    equal(done.status, 1)
    contains(done.err, "Read-only file system")
    more = ("--writable-root", "--tmp-size", "8m")
    equal(setup(t, *more, "--workspace", "w", command).status, 0)
    equal((t.tmp / "w/.deps/husk-new").read_text(), "kept\n")
    check(not os.path.exists("/usr/bin/husk-new"), "it is on the host")
    equal(code(t, "-c", "import os; print(os.path.exists('/usr/bin/husk-new'))").out, "False\n")
    done = setup(t, *more, "--no-cache", "--workspace", "w",
                 "head -c 20000000 /dev/zero >/usr/bin/husk-new")
    equal(done.status, 1)
    contains(done.err, "No space left")


@test
def kept_setups_are_pruned(t):
    """The least recently used first, down to a size, or all; never what is not asked for."""
    folder = t.tmp / "home/.cache/husk/setup"
    for name in ("old", "new"):
        equal(setup(t, "--workspace", name, f"head -c 100000 /dev/zero >.deps/{name}").status, 0)

    def kept():
        return sorted(p.name for p in folder.glob("*/deps/*"))
    equal(t.husk("gc").status, 0)
    equal(kept(), ["new", "old"])
    done = t.husk("gc", "--setups", "150k", "--json")
    equal((done.status, kept()), (0, ["new"]), done.err)
    equal(done.json["setups"], 1)
    check(done.json["setup_bytes"] >= 100000, done.out)
    done = t.husk("gc", "--setups", "none")
    equal((done.status, kept()), (0, []), done.err)
    contains(done.out, "1 setups")
    equal(t.husk("gc", "--setups", "0").status, 125)
    (t.tmp / "x").mkdir()
    equal(t.husk("gc", "--setups", "none", env={"XDG_CACHE_HOME": str(t.tmp / "x")}).status, 0)
    equal(os.listdir(t.tmp / "x"), [], "a cache was made to be emptied")


@test(needs=("pip",), timeout=120)
def wheels_without_network(t):
    """The example of the manual."""
    index.wheel(t.tmp / "wheels", "pkg", "3.1")
    done = setup(t, "--workspace", "w", "--network", "none", "-v", "./wheels:/wheels:ro",
                 "pip install --quiet --no-index --find-links /wheels pkg")
    equal(done.status, 0, done.err)
    equal(code(t, "-c", "import pkg; print(pkg.VERSION)").out, "3.1\n")


@test
def streams_pass_through_and_failure_is_told(t):
    done = setup(t, "--workspace", "w", "echo out; echo err >&2; exit 5")
    equal((done.status, done.out), (1, "out\n"))
    equal(done.err, "err\nhusk: setup: the command ended with exit code 5\n")
    done = setup(t, "--workspace", "w", "--timeout", "0.3", f"sleep {t.marker}")
    equal(done.status, 124)
    contains(done.err, "husk: setup: timeout")


@test
def network_is_on_unless_told(t):
    with index.serve(t.tmp) as server:
        probe = ("python3 -c 'import socket; "
                 f"print(socket.socket().connect_ex((\"127.0.0.1\", {server.server_port})))'")
        equal(setup(t, "--workspace", "w", probe).out, "0\n")
        equal(setup(t, "--workspace", "w", "--network", "none", probe).out, "111\n")


@test
def usage_is_checked(t):
    for words, part in ((("true",), "--workspace"), (("--workspace", "w"), "no command"),
                        (("--workspace", "w", "pip", "install", "x"), "quotes"),
                        (("--workspace", "w", "--json", "true"), "--json")):
        done = t.husk("setup", *words)
        equal((done.status, done.out), (125, ""))
        contains(done.err, part)
    check(not (t.tmp / "w").exists(), "a workspace was made")


@test
def ctrl_c_ends_it(t):
    process = subprocess.Popen(
        [t.command, "setup", *limits(t), "--workspace", "w", f"sleep {t.marker}"],
        cwd=t.tmp, env=t.env, stderr=subprocess.PIPE)
    wait_there(t.marker)
    process.send_signal(signal.SIGINT)
    equal((process.wait(30 * t.patience), process.stderr.read()), (130, b""))
    process.stderr.close()
    wait_gone(t.marker)


@test
def help_says_what_differs(t):
    text = t.husk("help", "setup").out
    for part in ("(default: 2g)", "(default: host)", "(default: 300)", "--no-cache"):
        contains(" ".join(text.split()), part)
    check("--json" not in text and "--deps-readonly" not in text, text)
    contains(t.husk("help", "run").out, "--deps-readonly")
    check("--no-cache" not in t.husk("help", "run").out, "an option of setup")


@test(who=("root",))
def manual_has_every_option_and_default(t):
    page = (t.root / "docs" / "man" / "husk-setup.1").read_text("utf-8")
    text = " ".join(t.husk("help", "setup").out.split())
    options = re.findall(r"--([a-z-]+)", text.partition("exit codes:")[0])
    equal(sorted(set(re.findall(r"^\.It Fl (?:\w , Fl )?-([a-z-]+)", page, re.M))),
          sorted(set(options)))
    for option, default in re.findall(r"--([a-z-]+) \S+ [^-]*?\(default: (\d\w*)\)", text):
        item = page.partition(f"Fl -{option} ")[2].partition(".It")[0]
        check(f"is {default}." in item or option == "pids", f"--{option} {default}: {item}")
    for code in ("0", "1", "124", "125"):
        contains(page, f"\n.It {code}\n")


@test
def nothing_is_printed_of_the_callers_environment(t):
    done = setup(t, "--workspace", "w", "env", env={"SECRET": f"s{t.marker}"})
    check(f"s{t.marker}" not in done.out, "the caller's variable is there")
    check(os.path.isdir(t.tmp / "w" / ".deps"), "no .deps")
