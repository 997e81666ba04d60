# SPDX-License-Identifier: Apache-2.0
"""The tests that programs bring along: what goes well outside goes well in the box, with either
filter, but for what known.py lists with its reason."""

import glob
import os
import pathlib
import platform
import shutil
import subprocess

import known
from harness import check, equal, need, test
from integration import boxes
from programs.trials import MODES, WORK, compared, inside, outside, read, whole
from suites import packages

OURS = pathlib.Path(__file__).resolve().parent / "work"
TESTS_OF_PYTHON = {
    "files": "os posix fcntl mmap select time io fileio file shutil tempfile pathlib glob stat "
             "posixpath genericpath zipfile tarfile bz2 lzma gzip dbm",
    "processes": "subprocess signal threading thread threadsignals fork1 wait3 wait4 pty openpty "
                 "popen eintr selectors epoll poll resource sched faulthandler "
                 "concurrent_futures multiprocessing_main_handling",
    "network": "socket httpservers urllib2_localnet ftplib ssl "
               "asyncio.test_unix_events asyncio.test_subprocess asyncio.test_streams "
               "asyncio.test_sock_lowlevel asyncio.test_server asyncio.test_sendfile "
               "asyncio.test_events",
    "others": "venv ctypes random uuid hashlib platform pwd grp locale getpass",
}
NUMPY = ("core/tests/test_multiarray.py", "core/tests/test_memmap.py",
         "core/tests/test_numeric.py", "lib/tests/test_io.py", "lib/tests/test_format.py",
         "linalg", "fft", "random", "tests")
PANDAS = ("io/test_pickle.py", "io/test_common.py", "io/test_sql.py", "frame/methods",
          "series/methods", "tseries/offsets/test_offsets.py", "window/test_rolling.py")
GO = ("os", "os/exec", "os/signal", "net", "syscall", "time", "internal/poll", "io/ioutil",
      "path/filepath", "os/user", "sync", "net/http/httptest", "runtime/debug")
USER = ("user",)
LONG = 2400  # seconds for one of the three runs
WHOLE = 3 * LONG + 300


@need("tests-of-python")
def tests_of_python(_context):
    """The package of the tests of the system's Python."""
    found = glob.glob("/usr/lib/python3.*/test/test_subprocess.py")
    return None if found else "no tests beside the system's Python (libpython3-testsuite)"


@need("pytest")
def pytest(_context):
    """pytest and hypothesis, and what they are to look at."""
    done = subprocess.run(["/usr/bin/python3", "-c", "import pytest, hypothesis, numpy, pandas"],
                          capture_output=True, check=False)
    return None if done.returncode == 0 else "no pytest, hypothesis, numpy or pandas"


def files():
    return sorted(OURS.iterdir())


def compare(t, argv, differ, env=None):
    """As an ordinary user, who has the same number in the box: the tests look at it."""
    control = outside(t, argv, files(), LONG, env)
    for mode in MODES:
        outcome = inside(t, mode, argv, files(), LONG, {**(env or {}), "HOME": "/workspace"},
                         ("--user", f"{os.getuid()}:{os.getgid()}"))
        compared(control, outcome, mode, differ)


def of_python(t, group):
    names = [f"test.{n}" if n.startswith("asyncio.") else f"test.test_{n}"
             for n in TESTS_OF_PYTHON[group].split()]
    compare(t, ["python3", "cpython.py", *names], known.PYTHON)


@test(who=USER, timeout=WHOLE, needs=("tests-of-python",))
def python_files(t):
    of_python(t, "files")


@test(who=USER, timeout=WHOLE, needs=("tests-of-python",))
def python_processes(t):
    of_python(t, "processes")


@test(who=USER, timeout=WHOLE, needs=("tests-of-python",))
def python_network(t):
    of_python(t, "network")


@test(who=USER, timeout=WHOLE, needs=("tests-of-python",))
def python_others(t):
    of_python(t, "others")


def by_pytest(t, package, names, differ, marks):
    """The tests lie in the package, and so does what configures them."""
    compare(t, ["python3", "-m", "pytest", "-q", "-p", "pytest_lines", "-p", "no:cacheprovider",
                "--rootdir=.", f"--confcutdir={package}", "--tb=line", "-m", marks,
                *(f"{package}/{n}" for n in names)], differ, {"PYTHONPATH": "."})


def package_of(name):
    done = subprocess.run(["/usr/bin/python3", "-c", f"import {name}; print({name}.__path__[0])"],
                          capture_output=True, text=True, check=True)
    return done.stdout.strip()


@test(who=USER, timeout=WHOLE, needs=("pytest",))
def numpy(t):
    by_pytest(t, package_of("numpy"), NUMPY, known.NUMPY, "not slow")


@test(who=USER, timeout=WHOLE, needs=("pytest",))
def pandas(t):
    by_pytest(t, package_of("pandas"), [f"tests/{n}" for n in PANDAS], known.PANDAS,
              "not slow and not network and not single_cpu")


@test(who=USER, timeout=WHOLE, needs=("program:go",))
def go_library(t):
    compare(t, ["sh", "go_std.sh", *GO], known.GO)


@test(who=("root", "user"), timeout=900, needs=("program:mmdebstrap", "program:dpkg-scanpackages"))
def apt_in_setup(t):
    """An image of Debian, packages of our own: what apt needs is said in docs/PROGRAMS.md."""
    root = t.tmp / "root.tar"
    sources = [s for s in ("/etc/apt/sources.list", "/etc/apt/sources.list.d/debian.sources")
               if os.path.exists(s)][:1]
    release = platform.freedesktop_os_release().get("VERSION_CODENAME", "stable")
    made = t.run(["mmdebstrap", "--quiet", "--variant=apt", release, root, *sources],
                 timeout=600)
    equal(made.status, 0, f"mmdebstrap: {made.err[-300:]}")
    repository = packages.repository(t.tmp)
    store = {"HUSK_STORE": str(t.tmp / "store")}
    equal(t.husk("image", "import", root, "debian:apt", env=store).status, 0, "import")
    for mode in MODES:
        place = t.tmp / mode
        place.mkdir()
        for file in (WORK / "checks.sh", OURS / "apt.sh"):
            shutil.copy(file, place)
        done = t.husk("setup", *boxes.limits(t), "--no-cache", "--network", "none", "--seccomp",
                      mode, "--image", "debian:apt", "--writable-root", "--tmp-size", "1g", "-v",
                      f"{repository}:/repository:ro", "--workspace", place, "sh apt.sh",
                      env=store, timeout=300)
        whole(mode, read(done.out, done.status, done.err[-500:]))
        check((place / ".deps/bin/husk-greeting").exists(), "nothing was kept")
