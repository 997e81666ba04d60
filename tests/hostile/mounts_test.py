# SPDX-License-Identifier: Apache-2.0
"""Mounts by identity where it takes a mount table of its own to try: bind aliases of what is
refused, services' sockets, what lies mounted below a volume, a chroot. Root makes such a table
for the test alone; the machine's stays as it is."""

import os
import shlex

from harness import check, contains, equal, test
from harness.survivors import mounts
from integration.boxes import BEST_EFFORT, ended, limits, plain, sh
from integration.canary import Canary


def apart(t, script, **more):
    """Run a shell script in a mount namespace of its own. $HUSK is the command with `run` and
    what a start here needs."""
    words = " ".join(shlex.quote(word) for word in (t.command, "run", *limits(t)))
    before = mounts()
    done = t.run(["unshare", "--mount", "--propagation", "private", "sh", "-euc",
                  script.replace("$HUSK", words)], **more)
    equal(mounts(), before, "mounts of the machine")
    return done


def refused_apart(t, setup, source, why=""):
    """The control: a plain directory at the same place can be mounted."""
    fine = apart(t, f"mkdir -p d; {setup}; $HUSK -v {t.tmp}/d:/data:ro -- echo ran")
    equal((fine.status, fine.out), (0, "ran\n"), setup)
    done = apart(t, f"{setup}; $HUSK -v {source}:/data:ro -- echo ran")
    equal((done.status, done.out), (125, ""), f"{setup}; {source}")
    contains(done.err, why)


@test(who=("root",))
def aliases_of_what_is_refused(t):
    """A bind alias of a refused directory, and one that holds such an alias, are that
    directory."""
    (t.tmp / "alias").mkdir()
    (t.tmp / "deep" / "er").mkdir(parents=True)
    for place in ("/etc", "/root", "/run", "/dev", "/proc", "/sys"):
        refused_apart(t, f"mount --bind {place} alias", t.tmp / "alias")
        refused_apart(t, f"mount --rbind {place} alias", t.tmp / "alias")
    refused_apart(t, "mount --rbind / alias", t.tmp / "alias")
    refused_apart(t, "mount --rbind / alias", f"{t.tmp}/alias/etc")
    refused_apart(t, "mount -t proc proc deep/er", f"{t.tmp}/deep/er")
    refused_apart(t, "mount -t sysfs sysfs deep/er", f"{t.tmp}/deep/er")
    done = apart(t, f"mount --rbind / alias; $HUSK --workspace {t.tmp}/alias/etc -- echo ran")
    equal((done.status, done.out), (125, ""), "as the workspace")


SOCKETS = ("docker.sock", "podman/podman.sock", "containerd/containerd.sock",
           "crio/crio.sock", "user/4711/bus", "user/4711/docker.sock",
           "user/4711/podman/podman.sock", "user/4711/systemd/private")


@test(who=("root",))
def sockets_of_services(t):
    """Neither they, nor the directories that hold them, nor aliases of those."""
    (t.tmp / "alias").mkdir()
    for name in SOCKETS:
        holder = os.path.dirname(f"/run/{name}")
        bind = ("import os, socket, sys; os.makedirs(os.path.dirname(sys.argv[1]), exist_ok=True);"
                " socket.socket(socket.AF_UNIX).bind(sys.argv[1])")
        setup = f"mount -t tmpfs husk-test /run; /usr/bin/python3 -c '{bind}' /run/{name}"
        refused_apart(t, setup, f"/run/{name}")
        refused_apart(t, setup, holder)
        for above in ("/run/user", "/run/user/4711") if name.startswith("user/") else ():
            refused_apart(t, setup, above)
        refused_apart(t, setup + f"; mount --bind {holder} alias", t.tmp / "alias")


@test(who=("root",))
def read_only_down_to_the_last_mount(t):
    """What is mounted below a read-only volume is read-only as well, and set-id programs and
    devices in it mean nothing."""
    for name in ("data/inner", "one", "two"):
        (t.tmp / name).mkdir(parents=True)
    # For root all that is mounted there is id-mapped, which a tmpfs can be since Linux 6.3.
    new = tuple(int(part) for part in os.uname().release.split(".")[:2]) >= (6, 3)
    first, second = ("-t tmpfs husk-test",) * 2 if new else ("--bind one", "--bind two")
    setup = (f"mount {first} data/inner; mkdir data/inner/more; "
             f"mount {second} data/inner/more; mknod data/inner/null c 1 3; "
             "chmod 666 data/inner/null; chmod 777 data/inner data/inner/more; ")
    box = ("for d in /data /data/inner /data/inner/more; do "
           "(echo x >$d/new) 2>/dev/null && echo wrote $d; done; "
           "(echo x >/data/inner/null) 2>/dev/null && echo device; "
           "grep -c ' /data.* ro,.*nosuid.*nodev' /proc/self/mountinfo")
    done = apart(t, f"{setup} $HUSK -v {t.tmp}/data:/data:ro -- sh -c {shlex.quote(box)}")
    equal((done.status, done.out), (0, "3\n"), done.err)
    equal(os.listdir(t.tmp / "data"), ["inner"])


@test(who=("root",))
def inside_a_chroot(t):
    """The kernel makes no user namespace there: no program runs, and the words say so."""
    (t.tmp / "top").mkdir()
    for options in ((), BEST_EFFORT):
        script = (f"mount --rbind / top; chroot top {shlex.quote(t.command)} run "
                  f"{' '.join(options)} -- echo ran")
        done = apart(t, script)
        equal((done.status, done.out), (125, ""))
        contains(done.err, "cannot create the namespaces")
        contains(done.err, "hint: ")


@test
def a_box_in_a_box(t):
    """The inner one cannot start and says why; the outer one is not confused by it."""
    for inner in ((), BEST_EFFORT):
        result = sh(t, f"/husk/husk run {' '.join(inner)} -- echo ran; echo $?",
                    options=("-v", f"{t.build}:/husk:ro"))
        ended(result, 0, "125\n")
        contains(result["stderr"], "husk: startup_failed: ")
        contains(result["stderr"], "hint: ")


@test
def homes_and_scratch_by_links(t):
    """$HOME and $TMPDIR are links: everything works, and what is refused stays so by either
    name."""
    home, scratch = t.tmp / "real-home", t.tmp / "real-scratch"
    (home / "project").mkdir(parents=True)
    scratch.mkdir(mode=0o700)
    (t.tmp / "home-link").symlink_to("real-home")
    (t.tmp / "scratch-link").symlink_to("real-scratch")
    env = {"HOME": str(t.tmp / "home-link"), "TMPDIR": str(t.tmp / "scratch-link")}
    for source in (home, t.tmp / "home-link", f"{t.tmp}/home-link/.", t.tmp):
        done = plain(t, "echo", "ran", options=("-v", f"{source}:/data:ro"), env=env)
        equal((done.status, done.out), (125, ""), source)
    ended(sh(t, "echo x >file; pwd; ls -d /data", env=env,
             options=("-v", f"{t.tmp}/home-link/project:/data:ro")), 0, "/workspace\n/data\n")
    equal(os.listdir(scratch), [], "left of the private workspace")


@test
def targets_in_the_place_of_links(t):
    """A mount below a directory that another mount brought along, where that one has links:
    the mount lands in the box or nowhere."""
    canary = Canary(t)
    outer, data = t.tmp / "outer", t.tmp / "data"
    outer.mkdir()
    data.mkdir()
    (data / "file").write_text("data")
    for n, way in enumerate((*canary.ways, "/proc/self/root", "loop3")):
        (outer / f"loop{n}").symlink_to(way)
        done = plain(t, "sh", "-c", "echo ran; cat /data/secret /outer/*/secret",
                     options=("-v", f"{outer}:/outer", "-v", f"{data}:/outer/loop{n}/x"))
        check(done.status == 125 and not done.out or done.out == "ran\n", done)
        canary.unread(done.out, done.err)
        canary.intact()
    equal(sorted(os.listdir(outer)), ["loop0", "loop1", "loop2", "loop3"])
