# SPDX-License-Identifier: Apache-2.0
"""Boxes that start from their session's template see, and may do, exactly what a box sees that
was built by itself; and what one of them does no other sees."""

import difflib
import os
import re

from harness import check, equal, test
from integration.sessions import Session

# All that a program can find out about where it is.
LOOK = r"""
cd /
ls -lanR --time-style=+ /dev /etc/passwd /etc/group /etc/hosts /etc/nsswitch.conf | sed 's/  */ /g'
ls -an --time-style=+ / /home /run /var /tmp /sys /sys/devices/system /workspace | sed 's/  */ /g'
cat /etc/passwd /etc/group /etc/hosts /etc/hostname /etc/nsswitch.conf
sed 's/^[0-9]* [0-9]* [0-9]*:[0-9]* \S* \(\S* \S*\) .*- \(\S*\) .*/mount \1 \2/' /proc/self/mountinfo | sort -u
grep -E '^(Uid|Gid|Groups|Cap...|NoNewPrivs|Seccomp|NSpid|Umask):' /proc/self/status
ulimit -a
for file in /proc/kcore /proc/keys /proc/kallsyms /proc/timer_list /proc/interrupts; do
    wc -c <$file 2>&1
done
for place in / /etc /usr /dev /dev/null /proc/sys /proc/irq /proc/1 /sys /dev/pts /home /run; do
    touch $place/new 2>&1
    mkdir $place/new 2>&1
done
for place in /tmp /dev/shm /workspace; do
    echo text >$place/file && cat $place/file && chmod 700 $place/file && rm $place/file
    stat -c '%n %a %u:%g' $place
done
echo /proc/[0-9]*
cat /proc/sys/kernel/hostname
cat /proc/net/dev | sed 's/:.*//'
readlink /proc/self/cwd /proc/self/root /dev/stdin /proc/1/exe
umount /proc 2>&1; umount /tmp 2>&1; umount /dev/null 2>&1; mount -t tmpfs x /tmp 2>&1
true
"""


def looked(session):
    text = session.run("bash", "-c", LOOK)["stdout"]
    # What differs on purpose: a place for code is there, and link counts with it.
    lines = []
    for line in text.splitlines():
        if "husk" in line or line.startswith("total") or not line or re.match(
                r"d\S+ \d+ \d+ \d+ \d+ (dev|\.|\.\.|proc)$", line):
            continue
        lines.append(line)
    return lines


def same(first, other, what):
    differing = [line for line in difflib.ndiff(first, other) if line[0] in "+-"]
    equal(differing, [], what)


@test()
def the_same_box(t):
    with Session(t) as session:
        first, second, third = (looked(session) for _ in range(3))
        check(len(first) > 100, f"{len(first)} lines")
        same(first, second, "the box for which the template was made")
        same(first, third, "a box that started from it")


@test()
def an_image_is_the_same_too(t):
    root = t.tmp / "root"
    for name in ("usr", "etc", "work"):
        (root / name).mkdir(parents=True)
    (root / "etc/passwd").write_text("someone:x:0:0::/:/bin/sh\n", encoding="utf-8")
    (root / "etc/hosts").write_text("mine\n", encoding="utf-8")
    for name in ("bin", "lib", "lib64"):
        (root / name).symlink_to(f"usr/{name}")
    with Session(t, image=f"dir:{root}", mounts=[("/usr", "/usr", False)]) as session:
        first, second, third = (looked(session) for _ in range(3))
        check(len(first) > 60 and "someone:x:0:0::/:/bin/sh" in first, f"{first}")
        same(first, second, "the box for which the template was made")
        same(first, third, "a box that started from it")


@test()
def nothing_goes_from_one_to_the_next(t):
    leave = ("for d in /tmp /dev/shm; do ls -A $d; echo left >$d/left; done; "
             "echo x >/workspace/kept; echo $$ $(hostname) $(ls /dev/pts)")
    with Session(t) as session:
        answers = {session.run("sh", "-c", leave)["stdout"] for _ in range(5)}
        equal(len(answers), 1, f"what five boxes see: {answers}")
        equal(session.run("cat", "/workspace/kept")["stdout"], "x\n")


@test()
def the_size_of_tmp_holds(t):
    fill = "head -c 20000000 /dev/zero >/tmp/a; head -c 20000000 /dev/zero >/dev/shm/b; " \
           "cat /tmp/a /dev/shm/b | wc -c"
    with Session(t, tmp_bytes=16 << 20) as session:
        for number in range(3):
            size = int(session.run("sh", "-c", fill)["stdout"])
            check(15 << 20 < size < 18 << 20, f"box {number}: {size} bytes")


@test()
def a_mount_in_what_is_each_boxes_own(t):
    (t.tmp / "given").mkdir()
    (t.tmp / "given/file").write_text("given\n", encoding="utf-8")
    with Session(t, mounts=[(str(t.tmp / "given"), "/tmp/given", False)]) as session:
        for _ in range(3):
            equal(session.run("cat", "/tmp/given/file")["stdout"], "given\n")


@test()
def code_of_any_size(t):
    code = "print(len('" + "x" * 300000 + "'))"
    with Session(t) as session:
        for _ in range(3):
            result = session.py(code)
            equal((result["stdout"], result["exit_code"]), ("300000\n", 0), f"{result}"[:300])


# Runs what follows with an /etc of its own, in the folder that the test knows.
OTHER_ETC = 'mkdir "$0" && { cp -a /etc/. "$0" 2>/dev/null || true; } && ' \
            'mount --bind "$0" /etc && exec "$@"'


@test()
def a_file_of_the_host_is_replaced(t):
    """As ldconfig does it: with another file in its place."""
    etc = t.tmp / "etc"
    alone = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-r", "-m"]
    with Session(t, prefix=[*alone, "sh", "-c", OTHER_ETC, str(etc)]) as session:
        for _ in range(3):
            equal(session.run("tail", "-n1", "/etc/services")["exit_code"], 0)
        for text in ("one\n", "two\n"):
            (etc / "new").write_text(text, encoding="utf-8")
            (etc / "new").rename(etc / "services")
            for _ in range(2):
                equal(session.run("cat", "/etc/services")["stdout"], text)
