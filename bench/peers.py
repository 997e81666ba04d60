# SPDX-License-Identifier: Apache-2.0
"""The programs that husk is measured beside, each as the command that runs another in it.

All show the same as husk's `host` image, as far as they can: /usr read-only with the links into
it, a /proc, a /dev and a /tmp of their own, the workspace, no network, a user namespace. None
has a system call filter, a deadline, or anybody who looks at what the program wrote.
"""
import json
import os
import shutil

LINKS = ("bin", "lib", "lib64", "sbin")
ETC = ("alternatives", "fonts", "ld.so.cache", "protocols", "services", "ssl/certs",
       "ssl/openssl.cnf")
BOX_ID = 100000  # what the box's only user is outside
MIB = 1 << 20

# Where the archive of the system has it (`make bench-deps`), else from elsewhere.
NAMES = ("bwrap", "crun", "runc", "nsjail", "podman", "docker", "kern")


def bwrap(workspace):
    views = ["--ro-bind", "/usr", "/usr"]
    for name in LINKS:
        views += ["--symlink", f"usr/{name}", f"/{name}"]
    for path in ETC:
        views += ["--ro-bind-try", f"/etc/{path}", f"/etc/{path}"]
    return ["bwrap", *views, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
            "--bind", workspace, "/workspace", "--chdir", "/workspace", "--unshare-all",
            "--unshare-user", "--new-session", "--die-with-parent", "--cap-drop", "ALL"]


def nsjail(workspace):
    views = ["-R", "/usr"]
    for name in LINKS:
        views += ["-s", f"usr/{name}:/{name}"]
    for path in ETC:
        if os.path.exists(f"/etc/{path}"):
            views += ["-R", f"/etc/{path}"]
    return ["nsjail", "-Mo", "-Q", *views, "-R", "/dev/null", "-T", "/tmp",
            "-B", f"{workspace}:/workspace", "--cwd", "/workspace", "--"]


def _rootfs(place):
    root = os.path.join(place, "rootfs")
    for name in ("usr", "etc", "proc", "dev", "sys", "tmp", "workspace"):
        os.makedirs(os.path.join(root, name), exist_ok=True)
    for name in LINKS:
        path = os.path.join(root, name)
        if not os.path.lexists(path):
            os.symlink(f"usr/{name}", path)
    return root


def _mounts(workspace):
    own = ["nosuid", "nodev", "noexec"]
    shown = ["rbind", "nosuid", "nodev"]
    mounts = [("/proc", "proc", "proc", own),
              ("/dev", "tmpfs", "tmpfs", ["nosuid", "mode=755", "size=65536k"]),
              ("/dev/pts", "devpts", "devpts", ["nosuid", "noexec", "newinstance",
                                                "ptmxmode=0666"]),
              ("/dev/shm", "tmpfs", "shm", [*own, "mode=1777"]),
              ("/tmp", "tmpfs", "tmpfs", ["nosuid", "nodev", "mode=1777", f"size={256 * MIB}"]),
              ("/usr", "bind", "/usr", [*shown, "ro"]),
              ("/workspace", "bind", workspace, shown)]
    return [dict(zip(("destination", "type", "source", "options"), row)) for row in mounts]


def bundle(place, workspace, program):
    """What runc and crun are given: a directory with a config.json."""
    _rootfs(place)
    mapping = [{"containerID": 0, "hostID": BOX_ID, "size": 1}]
    kinds = ("pid", "network", "ipc", "uts", "mount", "user", "cgroup")
    config = {
        "ociVersion": "1.0.2",
        "process": {"terminal": False, "user": {"uid": 0, "gid": 0}, "args": [program],
                    "env": ["PATH=/usr/bin:/bin"], "cwd": "/workspace",
                    "noNewPrivileges": True, "capabilities": {"bounding": []}},
        "root": {"path": "rootfs", "readonly": True},
        "hostname": "bench",
        "mounts": _mounts(workspace),
        "linux": {"namespaces": [{"type": kind} for kind in kinds],
                  "uidMappings": mapping, "gidMappings": mapping,
                  "maskedPaths": ["/proc/acpi", "/proc/kcore", "/proc/keys",
                                  "/proc/timer_list"],
                  "readonlyPaths": ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
                                    "/proc/sysrq-trigger"]},
    }
    with open(os.path.join(place, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)
    return place


def _oci(name, place, workspace, program):
    # "@" becomes a name that no other has (bench/start.c).
    return [name, "--root", os.path.join(place, f"{name}-state"), "run", "--bundle",
            bundle(place, workspace, program), "@"]


def _podman():
    """crun refuses hosts that have cgroups of both versions, and podman raises limits to what
    an unprivileged caller may not have."""
    runtime = ["--runtime", "runc"] if shutil.which("runc") else []
    own = ["--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024"]
    return [*runtime, "run", *own]


def _engine(name, place, workspace, program):
    # docker runs images alone: one that has been pulled.
    where = (["--rootfs", _rootfs(place)] if name == "podman" else
             [os.environ.get("BENCH_DOCKER_IMAGE", "debian:stable-slim")])
    return [name, *(_podman() if name == "podman" else ["run"]), "--rm", "--network", "none", "-v", "/usr:/usr:ro",
            "-v", f"{workspace}:/workspace", "-w", "/workspace", *where, program]


def command(name, place, workspace, program):
    """The argument list that runs `program` in peer `name`; None where it is not installed."""
    if not shutil.which(name):
        return None
    os.makedirs(place, exist_ok=True)
    if name in ("crun", "runc"):
        return _oci(name, place, workspace, program)
    if name in ("podman", "docker"):
        return _engine(name, place, workspace, program)
    if name == "kern":
        # As its Python binding calls it, but for the caps; it has no view of the host.
        return ["env", "KERN_ACCEPT_EULA=1", "KERN_NO_SCOPE=1", "kern", "box", "@", "--image",
                os.environ.get("BENCH_KERN_IMAGE", "debian:stable-slim"), "--ro",
                "-v", f"{workspace}:/workspace", "--workdir", "/workspace", "--", program]
    return {"bwrap": bwrap, "nsjail": nsjail}[name](workspace) + [program]
