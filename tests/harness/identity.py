# SPDX-License-Identifier: Apache-2.0
"""Running a test program as somebody else: root, an ordinary user, or the root of a user
namespace that an ordinary user made.

The tree may lie where an ordinary user cannot go, so what the user needs is copied to a
folder of its own first, and the program is started again from there."""

import os
import pwd
import shutil
import subprocess
import tempfile

USER = "husk-test"
# The system's own: another one may come first on PATH and lie where a user cannot go.
PYTHON = "/usr/bin/python3"
# Set in the program that was started again; holds the identity that it now has.
ENTERED = "HUSK_TEST_ENTERED"
# How the variables begin that go along (settings.py).
SETTING = "HUSK_TEST_SET_"
# The one that is a descriptor, which goes along as well.
PROGRESS = "PROGRESS"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
COPIED = ("tests", "bindings", "docs", "examples", "include", "README.md")


def entered(who):
    """True where this process is that identity already."""
    if who == "root":
        return os.geteuid() == 0
    if who == "user" and os.geteuid() != 0:
        return True
    return os.environ.get(ENTERED) == who


def again(program, root, build, who, arguments, outputs=()):
    """Run the program again as `who` and return its exit status. outputs: further folders of
    the build folder that it needs. Raises LookupError with the reason where that cannot be."""
    if who == "root":
        raise LookupError("not root")
    if os.geteuid() != 0:
        return start(program, root, build, who, arguments, [], os.environ.get("HOME", "/"))
    account = ensure_user()
    with tempfile.TemporaryDirectory(prefix="husk-check-", dir="/tmp") as folder:
        stage(root, build, folder, account, outputs)
        switch = ["setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}",
                  "--clear-groups", "--pdeathsig=KILL"]
        staged = os.path.join(folder, os.path.relpath(program, root))
        return start(staged, folder, os.path.join(folder, "build"), who, arguments, switch,
                     os.path.join(folder, "home"))


def start(program, root, build, who, arguments, switch, home):
    command = switch + (["unshare", "--user", "--map-root-user"] if who == "userns" else [])
    command += [PYTHON, program, "--as", who, "--build", build] + arguments
    env = {"PATH": PATH, "HOME": home, "LANG": "C.UTF-8", ENTERED: who}
    env.update({k: v for k, v in os.environ.items()
                if k.startswith(SETTING) or k.startswith("HUSK_TEST_")})
    kept = [int(env[SETTING + PROGRESS])] if SETTING + PROGRESS in env else []
    return subprocess.run(command, env=env, cwd=root, stdin=subprocess.DEVNULL, pass_fds=kept,
                          check=False).returncode


def ensure_user():
    """The account of the unprivileged test user; made where it is not there."""
    try:
        return pwd.getpwnam(USER)
    except KeyError:
        pass
    made = subprocess.run(["useradd", "--system", "--user-group", "--no-create-home",
                           "--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin",
                           USER], capture_output=True, text=True, check=False)
    try:
        return pwd.getpwnam(USER)  # perhaps another run made it meanwhile
    except KeyError:
        raise LookupError(f"no user {USER}: {made.stderr.strip()}") from None


def stage(root, build, folder, account, outputs=()):
    """Copy the tests and the build's outputs (no objects) to folder, readable by all; the
    probes and the home belong to the user."""
    os.chmod(folder, 0o755)
    for name in COPIED:
        source = os.path.join(root, name)
        if os.path.isdir(source):
            shutil.copytree(source, os.path.join(folder, name), symlinks=True,
                            ignore=shutil.ignore_patterns("__pycache__", "*.o"))
        elif os.path.isfile(source):
            shutil.copy2(source, folder)
    copy_outputs(build, os.path.join(folder, "build"), outputs)
    for mine in ("home", "build/probes"):
        path = os.path.join(folder, mine)
        os.makedirs(path, exist_ok=True)
        for where, _, files in os.walk(path):
            for entry in [where] + [os.path.join(where, f) for f in files]:
                os.chown(entry, account.pw_uid, account.pw_gid)
    subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
    os.chmod(os.path.join(folder, "home"), 0o700)


def copy_outputs(build, target, more=()):
    """The files of a build folder, its probes and examples and what else is asked for; other
    variants and objects lie in folders below and stay behind."""
    os.makedirs(target)
    for entry in os.scandir(build):
        if entry.is_file() or entry.is_symlink():
            shutil.copy2(entry.path, os.path.join(target, entry.name), follow_symlinks=False)
    for name in ("probes", "examples", *more):
        source = os.path.join(build, name)
        if os.path.isdir(source):
            shutil.copytree(source, os.path.join(target, name), symlinks=True)
