# SPDX-License-Identifier: Apache-2.0
"""Setup: the one box with the network on, where it installs to, what is kept of it, and
what no other box can change."""

import os
import subprocess
import threading

import husk
import index
from boxes import ended, module, program, raised, sandbox, settings
from harness import check, contains, equal, test
from harness.survivors import poll, processes_with, wait_gone

READ = "import pkg; print(pkg.VERSION)"


def kept(t):
    """The keys of what is kept in this test's cache."""
    folder = t.tmp / "cache" / "husk" / "setup"
    return sorted(n for n in os.listdir(folder) if len(n) == 64) if folder.is_dir() else []


@test(needs=("pip",), timeout=180)
def pip_install_from_an_index(t):
    """Into .deps, on PYTHONPATH, in no list of files; the index is asked once and the second
    session runs no box."""
    index.wheel(t.tmp / "wheels", "pkg", "1.5")
    with index.serve(t.tmp / "wheels") as server:
        more = {"setup": "pip install pkg", "env": server.variables()}
        with sandbox(t, **more) as box:
            r = ended(box.run_code(READ), stdout="1.5\n")
            equal((r.files, box.list_files(), box.setup_was_cached), ([], [], False))
            check("pkg.py" in os.listdir(f"{box.workspace_path}/.deps"), "not in .deps")
        asked = server.requests
        check(asked > 0, "nobody asked the index")
        with sandbox(t, **more) as box:
            ended(box.run_code(READ), stdout="1.5\n")
            equal((box.setup_was_cached, server.requests), (True, asked))
        with sandbox(t, **more, setup_cache=False) as box:
            equal(box.setup_was_cached, False)
        check(server.requests > asked, "the index was not asked again")


@test(needs=("pip",), timeout=180)
def pip_in_any_form_is_routed(t):
    index.wheel(t.tmp / "wheels", "pkg")
    index.wheel(t.tmp / "wheels", "other")
    with index.serve(t.tmp / "wheels") as server:
        for command in ("pip3 install pkg", "python3 -m pip install -q pkg",
                        "true && pip install pkg", "  pip install 'pkg>=1.0'",
                        "pip install other && pip install pkg"):
            with sandbox(t, setup=command, env=server.variables()) as box:
                ended(box.run_code(READ), stdout="1.0\n")


@test(needs=("pip",), timeout=120)
def wheelhouse_without_network(t):
    """A directory of wheels, mounted, and no network at all."""
    index.wheel(t.tmp / "wheels", "pkg", requires=["other"])
    index.wheel(t.tmp / "wheels", "other")
    with sandbox(t, setup="pip install --no-index --find-links /wheels pkg",
                 setup_network=False,
                 mounts={str(t.tmp / "wheels"): ("/wheels", "ro")}) as box:
        ended(box.run_code("import pkg, other; print(pkg.VERSION)"), stdout="1.0\n")


@test
def network_is_on_only_in_setup(t):
    probe = ("python3 -c 'import socket; s = socket.socket(); "
             "print(s.connect_ex((\"127.0.0.1\", {port})))' {where}")
    with index.serve(t.tmp) as server:
        command = probe.format(port=server.server_port, where=">.deps/answer")
        with sandbox(t, setup=command) as box:
            ended(box.run(["cat", ".deps/answer"]), stdout="0\n")
            r = box.run(["sh", "-c", probe.format(port=server.server_port, where="")])
            equal(r.stdout, "111\n")
        with sandbox(t, setup=command, setup_network=False) as box:
            ended(box.run(["cat", ".deps/answer"]), stdout="111\n")


@test
def failure_is_raised_with_the_end_of_the_output(t):
    error = raised(husk.SandboxError, lambda: sandbox(
        t, setup="seq 100000 >&2; echo the last words >&2; exit 3").__enter__(),
        "exit code 3", "the last words")
    check(len(str(error)) < 1000, "the whole output")
    raised(husk.SandboxError, lambda: sandbox(
        t, setup="echo only on stdout; exit 1").__enter__(), "only on stdout")
    equal(kept(t), [])


@test
def failed_setup_leaves_no_workspace(t):
    module(t)
    os.environ["TMPDIR"] = str(t.tmp / "temp")
    (t.tmp / "temp").mkdir()
    try:
        husk.Sandbox(setup="false", enforce_limits=False).__enter__()
    except husk.SandboxError:
        equal(os.listdir(t.tmp / "temp"), [])
        return
    check(False, "nothing was raised")


@test
def daemon_of_a_setup_dies_with_it(t):
    with sandbox(t, setup=f"setsid nohup sleep {t.marker} >/dev/null 2>&1 & "
                 "echo up >.deps/up") as box:
        ended(box.run(["cat", ".deps/up"]), stdout="up\n")
        wait_gone(t.marker)


@test
def setup_has_a_deadline_and_caps_of_its_own(t):
    with sandbox(t, timeout_s=3, setup="sleep 4; echo done >.deps/d") as box:
        ended(box.run(["cat", ".deps/d"]), stdout="done\n")
    raised(husk.SandboxError, lambda: sandbox(
        t, setup=f"sleep {t.marker}", setup_timeout_s=0.5).__enter__(), "timeout")
    equal(processes_with(t.marker), [])


@test(who=("root",))
def setup_has_memory_of_its_own(t):
    use = "python3 -c 'bytearray(300 << 20)'"
    more = {"setup": use, "setup_cache": False}
    with sandbox(t, memory_mb=64, **more) as box:
        equal(box.run(["sh", "-c", use]).fault.type, "oom")
    raised(husk.SandboxError, lambda: sandbox(t, setup_memory_mb=64, **more).__enter__(),
           "oom")


@test
def tmp_of_a_setup_is_larger_than_memory(t):
    """What pip unpacks first may be large; it lies on the disk, and is gone afterwards."""
    with sandbox(t, tmp_mb=1, setup="head -c 50000000 /dev/zero >/tmp/x; "
                 "wc -c </tmp/x >.deps/size") as box:
        ended(box.run(["cat", ".deps/size"]), stdout="50000000\n")
        ended(box.run(["ls", "/tmp"]), stdout="")


@test(needs=("pip",), timeout=180)
def requirements_file_is_an_input(t):
    """Same content: from the cache. Another content, or that of a file it names: anew."""
    index.wheel(t.tmp / "wheels", "pkg", "1.0")
    index.wheel(t.tmp / "wheels", "pkg", "2.0")

    def open_with(place, **files):
        place.mkdir()
        for name, text in files.items():
            (place / f"{name}.txt").write_text(text)
        return sandbox(t, workspace=place, setup="pip install --no-index --find-links "
                       "/wheels -r req.txt", setup_network=False,
                       mounts={str(t.tmp / "wheels"): ("/wheels", "ro")})

    with open_with(t.tmp / "a", req="pkg==1.0\n") as box:
        ended(box.run_code(READ), stdout="1.0\n")
        equal(box.setup_was_cached, False)
    with open_with(t.tmp / "b", req="pkg==1.0\n", unrelated="x") as box:
        ended(box.run_code(READ), stdout="1.0\n")
        equal(box.setup_was_cached, True)
    with open_with(t.tmp / "c", req="pkg==2.0\n") as box:
        ended(box.run_code(READ), stdout="2.0\n")
        equal(box.setup_was_cached, False)
    with open_with(t.tmp / "d", req="-r more.txt\n", more="pkg==1.0\n") as box:
        ended(box.run_code(READ), stdout="1.0\n")
        equal(box.setup_was_cached, False)
    with open_with(t.tmp / "e", req="-r more.txt\n", more="pkg==2.0\n") as box:
        ended(box.run_code(READ), stdout="2.0\n")
        equal(box.setup_was_cached, False)


@test(needs=("pip",), timeout=120)
def wheelhouse_is_an_input(t):
    def version(cached):
        with sandbox(t, setup="pip install --no-index --find-links=/wheels pkg",
                     setup_network=False,
                     mounts={str(t.tmp / "wheels"): ("/wheels", "ro")}) as box:
            equal(box.setup_was_cached, cached)
            return box.run_code(READ).stdout
    index.wheel(t.tmp / "wheels", "pkg", "1.0")
    equal([version(False), version(True)], ["1.0\n", "1.0\n"])
    index.wheel(t.tmp / "wheels", "pkg", "1.1")
    equal([version(False), version(True)], ["1.1\n", "1.1\n"])


@test
def everything_else_is_an_input_of_other_commands(t):
    def cached(place, **more):
        with sandbox(t, workspace=place, setup="cat f >.deps/copy 2>/dev/null; true",
                     **more) as box:
            return box.setup_was_cached

    def fresh(text, number=iter(range(100))):
        place = t.tmp / f"w{next(number)}"
        place.mkdir()
        (place / "f").write_text(text)
        return place
    equal([cached(fresh("one")), cached(fresh("one")), cached(fresh("two"))],
          [False, True, False])
    equal([cached(fresh("one"), env={"A": "1"}), cached(fresh("one"), env={"A": "1"}),
           cached(fresh("one"), env={"A": "2"})], [False, True, False])
    equal(cached(fresh("one"), user=9), False)
    (t.tmp / "m").mkdir()
    (t.tmp / "m" / "x").write_text("1")
    mounts = {str(t.tmp / "m"): "/m"}
    equal([cached(fresh("one"), mounts=mounts), cached(fresh("one"), mounts=mounts)],
          [False, True])
    (t.tmp / "m" / "x").write_text("2")
    equal(cached(fresh("one"), mounts=mounts), False)


@test
def command_that_changes_other_files_is_run_every_time(t):
    setup = "echo x >>log; echo d >.deps/d"
    for _ in range(2):
        with sandbox(t, setup=setup) as box:
            equal((box.read_file("log"), box.setup_was_cached), (b"x\n", False))
    equal(kept(t), [])


@test
def setups_add_up_in_a_kept_workspace(t):
    for name in ("one", "two"):
        with sandbox(t, workspace=t.tmp / "w", setup=f"echo {name} >.deps/{name}"):
            pass
    with sandbox(t, workspace=t.tmp / "w") as box:
        ended(box.run(["sh", "-c", "cat .deps/*"]), stdout="one\ntwo\n")


@test(needs=("pip",), timeout=120)
def pip_adds_up_in_a_kept_workspace_from_the_cache_too(t):
    for name in ("pkg", "other"):
        index.wheel(t.tmp / "wheels", name)
    mounts = {str(t.tmp / "wheels"): ("/wheels", "ro")}
    for place, cached in (("w", False), ("v", True)):
        for name in ("pkg", "other"):
            with sandbox(t, workspace=t.tmp / place, mounts=mounts, setup_network=False,
                         setup=f"pip install --no-index --find-links /wheels {name}") as box:
                equal(box.setup_was_cached, cached)
        with sandbox(t, workspace=t.tmp / place) as box:
            ended(box.run_code("import pkg, other"))


@test
def cached_tree_is_what_was_made(t):
    """Links, modes of programs and times are kept, which compiled Python files rely on;
    a pipe is not, and a set-user-ID bit cannot be had to begin with."""
    setup = ("cd .deps; mkdir d; echo '#!/bin/sh\necho ran' >d/prog; chmod 755 d/prog; "
             "ln -s d/prog link; touch -d @1000000000 d/old; echo e >d/emp; : >d/empty; "
             "mkfifo pipe; if chmod 4755 d/emp 2>>err; then exit 9; fi")
    look = ("cd .deps; ./link; readlink link; stat -c '%a %Y %s' d/old d/empty; "
            "find . -perm /6000; find . -type p")
    for readonly in (False, True):
        for _ in range(2):
            with sandbox(t, setup=setup, deps_readonly=readonly) as box:
                r = ended(box.run(["sh", "-c", look]))
                contains(r.stdout, "ran\nd/prog\n644 1000000000 0\n")
                if box.setup_was_cached:
                    check("pipe" not in r.stdout and "emp\n" not in r.stdout, r.stdout)
    equal(box.setup_was_cached, True)


@test
def code_may_change_dependencies_of_its_own_session_only(t):
    """By default .deps can be written to; what is kept and other sessions see nothing."""
    setup = "echo 'V = 1' >.deps/pkg.py"
    with sandbox(t, setup=setup) as box:
        ended(box.run_code("open('.deps/pkg.py', 'w').write('V = 666')"))
        ended(box.run_code("import pkg; print(pkg.V)"), stdout="666\n")
    with sandbox(t, setup=setup) as box:
        equal(box.setup_was_cached, True)
        ended(box.run_code("import pkg; print(pkg.V)"), stdout="1\n")


ATTACKS = """
import os, shutil
def attempt(f, *a):
    try:
        f(*a)
    except OSError as e:
        return
    print('did', f.__name__, a)
attempt(lambda: open('.deps/pkg.py', 'w').write('V = 666'))
attempt(lambda: open('.deps/new.py', 'w').write('x'))
attempt(os.unlink, '.deps/pkg.py')
attempt(os.chmod, '.deps/pkg.py', 0o777)
attempt(os.utime, '.deps/pkg.py', (1, 1))
attempt(os.rename, '.deps', 'moved')
attempt(os.rmdir, '.deps')
os.makedirs('fake', exist_ok=True)
attempt(os.rename, 'fake', '.deps')
attempt(os.link, '.deps/pkg.py', 'hard')
attempt(os.symlink, 'fake', '.deps')
attempt(lambda: os.truncate('.deps/pkg.py', 0))
attempt(lambda: os.setxattr('.deps/pkg.py', 'user.x', b'1'))
import pkg; print(pkg.V)
"""


@test
def readonly_dependencies_cannot_be_changed_or_swapped(t):
    """Shown from the cache, copied from it, installed without one, in a kept workspace."""
    setup = "echo 'V = 1' >.deps/pkg.py"
    for more in ({}, {}, {"setup_cache": False}, {"workspace": t.tmp / "w"},
                 {"workspace": t.tmp / "w2"}, {"workspace": t.tmp / "w"}):
        with sandbox(t, setup=setup, deps_readonly=True, **more) as box:
            ended(box.run_code(ATTACKS), stdout="1\n")
            ended(box.run_code("import pkg; print(pkg.V)"), stdout="1\n")


@test
def readonly_dependencies_without_a_setup_are_empty(t):
    """A box cannot put a module there for the next one."""
    with sandbox(t, deps_readonly=True) as box:
        r = box.run(["sh", "-c", "echo x >.deps/evil.py"])
        contains(r.stderr, "Read-only")
        ended(box.run(["ls", "-A", ".deps"]), stdout="")


@test
def link_in_the_place_of_deps_is_refused(t):
    """Left by a box of an earlier session: nothing outside is shown, written or read."""
    outside = t.tmp / "outside"
    outside.mkdir()
    for target in (str(outside), "sub", "/etc"):
        with sandbox(t, workspace=t.tmp / "w") as box:
            ended(box.run(["sh", "-c", f"rm -rf .deps sub; mkdir sub; ln -s {target} .deps"]))
        raised(husk.SandboxError, lambda: sandbox(
            t, workspace=t.tmp / "w", deps_readonly=True).__enter__(), "link")
        raised(husk.SandboxError, lambda: sandbox(
            t, workspace=t.tmp / "w", setup="echo x >.deps/x").__enter__(), "link")
    equal(os.listdir(outside), [])


@test(timeout=300)
def swap_by_a_session_without_the_setting_is_not_followed(t):
    """What is mounted is the pinned directory, or the box is not started. Also where its
    mounts were made before the swap, for the boxes of several calls or of the next one."""
    setup = "echo 'V = 1' >.deps/pkg.py"
    swaps = ("mv .deps old; mkdir .deps; echo 'V = 666' >.deps/pkg.py",
             "rm -rf .deps; ln -s fake .deps; mkdir -p fake; echo 'V = 666' >fake/pkg.py",
             "rm -rf .deps; mkdir .deps; echo 'V = 666' >.deps/pkg.py",
             "rm -rf .deps")
    for prewarm, calls in ((0, 0), (0, 3), (1, 0), (1, 3)):
        place = t.tmp / f"w{prewarm}{calls}"
        with sandbox(t, workspace=place, setup=setup, deps_readonly=True,
                     prewarm=prewarm) as box, sandbox(t, workspace=place) as other:
            for _ in range(calls):
                equal(box.run_code("import pkg; print(pkg.V)").stdout, "1\n")
            poll(lambda box=box, prewarm=prewarm: box.spares.programs +
                 box.spares.interpreters >= prewarm, 60)
            for swap in swaps:
                ended(other.run(["sh", "-c", swap]))
                r = box.run_code("import pkg; print(pkg.V)")
                if r.fault is None:
                    equal(r.stdout, "1\n")
                else:
                    equal(r.fault.type, "startup_failed")


@test(timeout=120)
def mounts_in_the_workspace_stay_where_they_are(t):
    """Whoever renames or replaces the directory below one, out here or in another box."""
    data = t.tmp / "data"
    data.mkdir()
    (data / "file").write_text("mine\n")
    for prewarm in (0, 1):
        place = t.tmp / f"w{prewarm}"
        (place / "in/it").mkdir(parents=True)
        with sandbox(t, workspace=place, prewarm=prewarm,
                     mounts={data: "/workspace/in/it"}) as box:
            for swap in (None, "mv in/it in/old; mkdir in/it", "mv in old; mkdir -p in/it",
                         "rmdir in/it; mkdir in/it"):
                for _ in range(3):
                    ended(box.run(["cat", "in/it/file"]), stdout="mine\n")
                poll(lambda box=box, prewarm=prewarm: box.spares.programs >= prewarm, 60)
                if swap:
                    subprocess.run(["sh", "-c", swap], cwd=place, check=True)
                    ended(box.run(["cat", "in/it/file"]), stdout="mine\n")


@test(timeout=120)
def boxes_of_one_session_cannot_swap_deps_for_each_other(t):
    """One tries in a loop, others start and import meanwhile."""
    loop = """
import os, time
os.mkdir('evil'); open('evil/pkg.py', 'w').write('V = 666')
os.symlink('evil', 'link')
end = time.monotonic() + 3
while time.monotonic() < end:
    for a, b in (('.deps', 'hidden'), ('link', '.deps'), ('evil', '.deps')):
        try:
            os.rename(a, b)
            print('did', a, b)
        except OSError:
            pass
"""
    seen, loops = set(), []
    with sandbox(t, workspace=t.tmp / "w", setup="echo 'V = 1' >.deps/pkg.py",
                 deps_readonly=True) as box:
        thread = threading.Thread(target=lambda: loops.append(box.run_code(loop)))
        thread.start()
        while thread.is_alive():
            seen.add(box.run_code("import pkg; print(pkg.V)").stdout)
        thread.join()
    equal(seen, {"1\n"})
    ended(loops[0], stdout="")


@test(timeout=120)
def setup_runs_once_for_many_at_once(t):
    """Sessions in threads and processes that ask for the same: one makes it, the others
    wait for it."""
    setup = "sleep 1; head -c 16 /dev/urandom | od -A n -t x1 >.deps/who"
    more = settings(t)
    seen, failures = [], []

    def work():
        try:
            with husk.Sandbox(setup=setup, **more) as box:
                seen.append((box.run(["cat", ".deps/who"]).stdout, box.setup_was_cached))
        except Exception as error:
            failures.append(error)
    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal(failures, [])
    equal(len({text for text, _ in seen}), 1, f"different outcomes in {seen}")
    equal(sorted(cached for _, cached in seen), [False] + [True] * 5)
    equal(len(kept(t)), 1)


@test
def killed_maker_leaves_nothing_in_the_cache(t):
    """Its directory is swept by the next setup, and its lock is free."""
    setup = f"sleep {t.marker}"
    code = ("import husk, os, threading, time\n"
            "threading.Timer(1.5, os._exit, (9,)).start()\n"
            f"husk.Sandbox(setup={setup!r}, enforce_limits=False).__enter__()\n")
    equal(program(t, code).status, 9)
    wait_gone(t.marker)
    folder = t.tmp / "cache" / "husk" / "setup"
    check(any(n.startswith("husk-ws-") for n in os.listdir(folder)), "nothing was left")
    with sandbox(t, setup="echo x >.deps/x") as box:
        ended(box.run(["cat", ".deps/x"]), stdout="x\n")
    check(not any(n.startswith("husk-ws-") for n in os.listdir(folder)), "not swept")


@test
def cache_that_cannot_be_is_done_without(t):
    with sandbox(t, setup="echo x >.deps/x", setup_cache="/proc/none") as box:
        ended(box.run(["cat", ".deps/x"]), stdout="x\n")


@test
def cache_open_to_others_is_refused(t):
    folder = t.tmp / "open" / "setup"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    raised(husk.SandboxError, lambda: sandbox(
        t, setup="true", setup_cache=t.tmp / "open").__enter__(), "cache", "0700")


@test
def large_trees_are_copied_and_shown_whole(t):
    """2,000 files in 100 directories: from the cache as it was made."""
    setup = ("cd .deps; for d in $(seq 100); do mkdir p$d; for f in $(seq 20); do "
             "echo $d.$f >p$d/f$f; done; done")
    look = "cat .deps/p*/f* | sort | md5sum; find .deps | wc -l"
    seen = set()
    for readonly in (False, False, True):
        with sandbox(t, setup=setup, deps_readonly=readonly) as box:
            seen.add(ended(box.run(["sh", "-c", look])).stdout)
    equal(len(seen), 1, f"{seen}")
    contains(seen.pop(), "\n2101\n")
