# SPDX-License-Identifier: Apache-2.0
"""Starting a command in one of the places (places.py), from the driver or from the shell.

Under plain init the cgroup of a place is made for the one command and removed afterwards.
Under systemd the system does what it does for everybody: a transient service for root, a
PAM login for the user."""

import os
import shlex
import socket
import subprocess
import time

from guest import places

CGROUPS = "/sys/fs/cgroup"
CONTROLLERS = "+cpu +memory +pids"
TREE = "/husk"
# The three files besides the folder that delegation hands over (cgroups(7)).
DELEGATED = ("cgroup.procs", "cgroup.threads", "cgroup.subtree_control")
PATHS = ("/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
         "/usr/local/bin:/usr/bin:/bin")


class Entry:
    """A way into a place for one command. Use as a context manager."""

    def __init__(self, place, serial):
        self.place = place
        self.group = f"{CGROUPS}/test-{serial}-{place.name}"
        self.leaf = f"{self.group}/shell"

    def __enter__(self):
        if self.place.init == "plain" and self.place.name != "root-top":
            self._make_groups()
        return self

    def __exit__(self, *_):
        if os.path.isdir(self.group):
            remove_groups(self.group)

    def _make_groups(self):
        write(f"{CGROUPS}/cgroup.subtree_control", CONTROLLERS)
        os.makedirs(self.leaf)
        write(f"{self.group}/cgroup.subtree_control", CONTROLLERS)
        if self.place.name == "user":
            for folder in (self.group, self.leaf):
                for path in [folder] + [f"{folder}/{name}" for name in DELEGATED]:
                    os.chown(path, places.USER_ID, places.USER_ID)

    def start(self, argv, environment=(), **more):
        """Start argv there and return the process. What is not given in `more` is
        subprocess's default."""
        set_words = [f"{key}={value}" for key, value in dict(environment).items()]
        command = ["env", *set_words, *argv]
        if self.place.name == "root-service":
            command = ["systemd-run", "--quiet", "--pipe", "--wait", "--collect",
                       "--service-type=exec", f"--working-directory={TREE}",
                       "--property=SendSIGHUP=no", *command]
        elif self.place.name == "user-session":
            words = f"cd {TREE} && exec {shlex.join(command)}"
            command = ["su", "--login", places.USER, "--command", words]
        return subprocess.Popen(command, cwd=TREE, env=self._environment(),
                                preexec_fn=self._become, **more)

    def kill(self):
        """End everything in the place's own group."""
        if os.path.isdir(self.group):
            write(f"{self.group}/cgroup.kill", "1")

    def _environment(self):
        ordinary = self.place.init == "plain" and not self.place.root
        return {"PATH": PATHS[ordinary], "LANG": "C.UTF-8",
                "HOME": f"/home/{places.USER}" if ordinary else "/root",
                "USER": places.USER if ordinary else "root"}

    def _become(self):
        """In the child, before exec."""
        write("/proc/self/oom_score_adj", "0")
        if self.place.init != "plain":
            return
        home = CGROUPS if self.place.name == "root-top" else self.leaf
        write(f"{home}/cgroup.procs", "0")
        if not self.place.root:
            os.setgroups([places.USER_ID])
            os.setgid(places.USER_ID)
            os.setuid(places.USER_ID)


def prepare(init):
    """Once, before anything is started."""
    if init == "plain":
        with open("/etc/hostname", encoding="ascii") as file:
            socket.sethostname(file.read().strip())
        os.makedirs(f"{CGROUPS}/driver", exist_ok=True)
        write(f"{CGROUPS}/driver/cgroup.procs", str(os.getpid()))
        return
    subprocess.run(["loginctl", "enable-linger", places.USER], check=True)
    subprocess.run(["systemctl", "start", f"user@{places.USER_ID}.service"], check=True)


def remove_groups(top):
    """Remove a group and all below it. Groups of processes that are just ending are busy
    for a moment; one that stays busy is left."""
    for _ in range(50):
        for folder, _, _ in os.walk(top, topdown=False):
            try:
                os.rmdir(folder)
            except OSError:
                pass
        if not os.path.isdir(top):
            return
        time.sleep(0.1)


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
