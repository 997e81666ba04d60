# SPDX-License-Identifier: Apache-2.0
"""More of what the published package promises: what a bare Sandbox is, whose the files are,
what its arguments do. docs/PROMISES.md has every sentence and its test."""

import os
import threading

import husk as kern
from boxes import ended, raised, sandbox, settings
from harness import check, equal, test

SURROUNDINGS = """
import os, re
status = dict(l.split(':', 1) for l in open('/proc/self/status').read().splitlines())
print(int(status['CapEff'], 16), int(status['CapBnd'], 16), status['NoNewPrivs'].strip(),
      status['Seccomp'].strip())
print(sorted(os.listdir('/sys/class/net') if os.path.isdir('/sys/class/net') else ['lo']))
mounts = [l.split() for l in open('/proc/self/mountinfo')]
print(sorted({m[4] for m in mounts if m[4].startswith(('/home', '/root', '/var', '/run', '/srv',
                                                       '/mnt', '/opt'))}))
print([m[4] for m in mounts if 'rw' in m[5].split(',') and
       not m[4].startswith(('/dev', '/proc', '/tmp', '/workspace'))])
"""


@test
def a_bare_sandbox_is_safe(t):
    """No network, no host mounts, the filter on, no capabilities, nothing writable but the
    workspace and scratch; and a deadline."""
    with sandbox(t) as box:
        r = ended(box.run_code(SURROUNDINGS))
        equal(r.stdout, "0 0 1 2\n['lo']\n[]\n[]\n")
        equal(box.timeout_s, 30)
        equal((box.network, box.mounts, box.env, box.setup), (False, None, None, None))


@test
def every_argument_may_be_given_by_position(t):
    more = settings(t)
    box = kern.Sandbox("host", "echo 'V = 7' >.deps/pkg.py", str(t.tmp / "w"), 256, 1.5, 64,
                       20, False, {"/usr/share": ("/data", "ro")}, {"NAME": "value"}, 1000,
                       more.get("enforce_limits", True), True)
    with box as sbx:
        r = ended(sbx.run_code("import os, pkg; print(os.environ['NAME'], pkg.V, "
                               "os.path.isdir('/data/doc'))"))
        equal(r.stdout, "value 7 True\n")
        r = ended(sbx.run_code("print('x' * 5000)"))
        equal((len(r.stdout), r.truncated), (1000, True))
        r = sbx.run_code("open('.deps/pkg.py', 'w')")
        equal(r.success, False)


@test
def pids_is_a_ceiling(t):
    """A fork bomb stops at it, and the caller does not notice."""
    count = ("import os, time\nmade = 0\ntry:\n    while made < 200:\n"
             "        if os.fork() == 0: time.sleep(60)\n        made += 1\n"
             "except OSError: pass\nprint(made)")
    with sandbox(t, pids=20, timeout_s=20) as box:
        r = box.run_code(count)
        if r.limits.pids == "enforced" or t.who == "user":
            equal(r.fault, None)
            check(0 < int(r.stdout) < 20, r.stdout)


@test
def files_of_a_box_are_the_hosts_to_handle(t):
    """In a workspace that was given they belong to its owner, who can read, change and
    remove them without the sandbox."""
    place = t.tmp / "w"
    place.mkdir()
    owner = place.stat()
    with sandbox(t, workspace=place) as box:
        ended(box.run(["sh", "-c", "mkdir d; echo made >d/f; chmod 600 d/f"]))
        made = os.stat(place / "d" / "f")
        equal((made.st_uid, made.st_gid), (owner.st_uid, owner.st_gid))
        equal((place / "d" / "f").read_text(), "made\n")
        (place / "d" / "f").write_text("changed")
        ended(box.run(["cat", "d/f"]), stdout="changed")
    (place / "d" / "f").unlink()
    (place / "d").rmdir()


@test
def one_shot_takes_a_language_and_keywords(t):
    r = kern.run_code("echo $0 $NAME; pwd", language="bash", env={"NAME": "value"},
                      workspace=t.tmp / "kept", **settings(t))
    equal(ended(r).stdout, "bash value\n/workspace\n")
    check((t.tmp / "kept").is_dir(), "a given workspace was removed")
    before = set(os.listdir("/tmp"))
    kern.run_code("open('f', 'w')", **settings(t))
    left = [n for n in set(os.listdir("/tmp")) - before
            if n.startswith("husk-ws-") and os.stat(f"/tmp/{n}").st_uid == os.geteuid()
            and os.path.exists(f"/tmp/{n}/f")]
    equal(left, [], "workspaces of the one-shot")


@test
def paths_are_brought_into_form(t):
    """As a reader of the published package would write them."""
    with sandbox(t) as box:
        box.write_file("./a//b/../c", "x")
        for path in ("a/c", "./a/c", "a/./c", "a/b/../c", "a//c"):
            equal(box.read_file(path), b"x", path)
        equal([f.path for f in box.list_files("./a/")], ["a/c"])
        equal([f.path for f in box.list_files(".")], ["a/c"])
        raised(kern.SandboxError, lambda: box.read_file("a/../../x"))


@test
def own_python_path_wins(t):
    """Without one, it is where setups install."""
    with sandbox(t) as box:
        ended(box.run_code("import os; print(os.environ['PYTHONPATH'])"),
              stdout="/workspace/.deps\n")
    with sandbox(t, env={"PYTHONPATH": "/workspace/lib"}) as box:
        box.write_file("lib/mine.py", "V = 3")
        ended(box.run_code("import mine; print(mine.V)"), stdout="3\n")


@test
def nothing_of_the_sandbox_lies_in_the_workspace(t):
    """No file of variables, no code: neither while a step runs nor afterwards."""
    large = "import os; print(sorted(os.listdir('.')))\n" + "#" * 300_000
    with sandbox(t, env={"SECRET": "s3cret"}) as box:
        ended(box.run_code(large), stdout="[]\n")
        ended(box.run(["ls", "-A"]), stdout="")
        equal(os.listdir(box.workspace_path), [])


@test
def what_code_does_is_never_raised(t):
    """Everything that code can do to itself comes back as a result."""
    with sandbox(t, timeout_s=1, max_output_bytes=100) as box:
        for code in ("raise SystemExit(3)", "import os; os.abort()", "while True: pass",
                     "import os; os.kill(os.getpid(), 9)", "print('x' * 10**6)", "((",
                     "import os; os.write(2, b'error: sandbox: forged')\nos._exit(1)"):
            check(isinstance(box.run_code(code), kern.ExecutionResult), code)


@test(timeout=180, alone=True)
def a_hundred_at_once_all_succeed(t):
    answers = [None] * 100
    with sandbox(t, timeout_s=120) as box:
        def work(number):
            answers[number] = box.run_code(f"print({number})")
        threads = [threading.Thread(target=work, args=(n,)) for n in range(100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    equal([r.stdout for r in answers], [f"{n}\n" for n in range(100)])
    equal([r.success for r in answers], [True] * 100)


@test
def missing_runner_is_127_and_a_hint(t):
    """An image without that language: not a fault, and told apart from a program's 127."""
    root = t.tmp / "image"
    (root / "bin").mkdir(parents=True)
    with sandbox(t, image=f"dir:{root}") as box:
        for language in ("python", "bash", "node"):
            r = box.run_code("1", language=language)
            equal((r.exit_code, r.fault), (127, None), language)
            check(r.hint, f"no hint for {language}")
            check("not found" in r.stderr, r.stderr)
    with sandbox(t) as box:
        r = box.run(["sh", "-c", "exit 127"])
        equal((r.exit_code, r.hint), (127, None))
