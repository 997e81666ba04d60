# SPDX-License-Identifier: Apache-2.0
"""`husk shell` and `-t`: a terminal of the box's own, and the caller's as it was before."""

import os
import pathlib
import re
import signal
import subprocess
import termios
import time

from harness import check, contains, equal, need, test
from harness.survivors import poll, state_of
from integration.boxes import limits
from integration.screens import Screen, stop_and_go_on


@need("tmux")
def _tmux(t):
    return None if os.path.exists("/usr/bin/tmux") else "tmux is not installed"


@need("vim")
def _vim(t):
    return None if os.path.exists("/usr/bin/vi") else "vi is not installed"


@test
def a_shell_is_interactive(t):
    with Screen(t, "shell", *limits(t), rows=33, columns=111) as s:
        s.sees(r"[#$] ")
        s.type("echo $((6*7)) $TERM\n")
        s.sees("\r42 xterm\r\n")
        s.type("stty size; tty; test -t 0 && test -t 1 && test -t 2 && echo all\n")
        s.sees("33 111\r\n/dev/pts/0\r\nall\r\n")
        s.type("exit 7\n")
        equal(s.ends(), 7, "exit code")
        s.is_as_before()


@test
def sizes_are_passed_on(t):
    with Screen(t, "run", *limits(t), "-it", "--", "sh", "-c",
                "trap 'stty size' WINCH; echo ready; while :; do sleep .1; done") as s:
        s.sees("ready")
        s.resize(40, 100)
        s.sees("40 100")
        s.resize(10, 20)
        s.sees("10 20")
        s.type("\x03")
        s.ends()
        s.is_as_before()


@test
def keys_are_signals_in_the_box(t):
    with Screen(t, "shell", *limits(t)) as s:
        s.sees(r"[#$] ")
        s.type("sleep 1000; echo code $?\n")
        time.sleep(0.5)
        s.type("\x03")
        s.sees("code 130|[#$] ")
        s.type("sleep 1000\n")
        time.sleep(0.5)
        s.type("\x1a")
        s.sees("Stopped")
        s.type("fg; echo ended-$((1+1))\n")
        s.sees("sleep 1000\r\n")
        time.sleep(0.5)
        s.type("\x03")
        s.sees("\x1b|[#$] ")
        s.type("echo again-$((1+1))\n")
        s.sees("again-2")
        s.sees(r"[#$] ")  # a Ctrl-D before the shell reads keys one by one would be lost
        s.type("\x04")
        s.ends()
        s.is_as_before()


@test
def a_program_without_a_terminal_has_none(t):
    done = t.husk("run", *limits(t), "--", "sh", "-c", "test -t 0 || test -t 1 || echo none")
    equal(done.out, "none\n", "stdout")


@test
def it_works_without_a_terminal_of_ones_own(t):
    """-t from a script: a size is made up, and the end of the input is typed."""
    done = t.run([t.command, "run", *limits(t), "-t", "--", "stty", "size"])
    equal((done.status, done.out), (0, "24 80\r\n"), "a size")
    done = t.run([t.command, "run", *limits(t), "-it", "--", "sh", "-c", "cat; echo done"],
                 stdin=b"typed\n")
    equal(done.status, 0, "exit code")
    contains(done.out, "typed\r\n")
    contains(done.out, "done\r\n")


@test
def an_input_that_ends_ends_what_reads_it(t):
    """Also a shell, which throws away what was typed before it reads keys one by one."""
    for words, typed in ((("shell",), b""), (("shell",), b"echo $((6*7))\n"),
                         (("run", "-it", "--", "python3", "-q"), b"print(6*7)\n"),
                         (("run", "-it", "--", "sh", "-c", "sleep 2; cat; cat; echo 42"), b"")):
        done = t.run([t.command, words[0], *limits(t), *words[1:]], stdin=typed)
        equal(done.status, 0, f"{words} {typed}: {done.out[-300:]}")
        check(typed == b"" or "42\r\n" in done.out, done.out)
    # Without -i nothing is typed from the beginning.
    done = t.run([t.command, "run", *limits(t), "-t", "--", "sh", "-c", "cat; echo done"])
    equal((done.status, done.out), (0, "done\r\n"), "without -i")


@test
def large_output_comes_whole(t):
    done = t.run([t.command, "run", *limits(t), "-t", "--", "seq", "1", "100000"])
    equal(done.out.split(), [str(i) for i in range(1, 100001)], "lines")


@test
def the_callers_terminal_is_restored(t):
    """Whatever ends the box or husk."""
    full = "printf '\\033[?1049h\\033[?25l\\033[?1000h'; stty raw -echo; echo ready; "
    for end, wanted in (("kill -9 $$", 137), ("exit 3", 3)):
        with Screen(t, "run", *limits(t), "-it", "--", "sh", "-c", full + end) as s:
            equal(s.ends(), wanted, end)
            s.is_as_before()
            for undone in ("\x1b[?1049l", "\x1b[?25h", "\x1b[?1000l"):
                contains(s.text.decode(), undone)
    with Screen(t, "run", *limits(t), "--timeout", "3", "-it", "--", "sh", "-c",
                full + "sleep 1000") as s:
        equal(s.ends(), 124, "the deadline")
        s.is_as_before()
    for number in (signal.SIGTERM, signal.SIGHUP):
        with Screen(t, "run", *limits(t), "-it", "--", "sh", "-c",
                    full + "sleep 1000") as s:
            s.sees("ready")
            s.signal(number)
            equal(s.ends(), 128 + number, str(number))
            s.is_as_before()
    for number in (signal.SIGQUIT, signal.SIGUSR1, signal.SIGALRM):  # which husk knows nothing of
        with Screen(t, "run", *limits(t), "-it", "--", "sh", "-c",
                    "stty raw; echo ready; sleep 1000") as s:
            s.sees("ready")
            s.signal(number)
            equal(s.ends(), -number, str(number))
            s.is_as_before()


@test
def a_killed_husk_gives_the_terminal_back(t):
    """SIGKILL cannot be caught: a process that waits for husk's end does it."""
    with Screen(t, "run", *limits(t), "-it", "--", "sh", "-c",
                "stty raw -echo; printf '\\033[?1049h\\033[>1u\\033[?1000h'; echo ready; sleep 1000") as s:
        s.sees("ready")
        guards = children(s.process.pid, "husk-terminal")
        equal(len(guards), 1, "guards")
        s.signal(signal.SIGKILL)
        equal(s.ends(), -signal.SIGKILL, "husk")
        s.sees(re.escape("\x1b[<1u\x1b[?1000l\x1b[?1049l"))
        # It is this process's child by now, and stays a zombie.
        check(poll(lambda: state_of(guards[0]) in (None, "Z"), 30 * t.patience),
              "the guard is left")
        s.is_as_before()
    with Screen(t, "run", *limits(t), "-it", "--", "sh", "-c", "echo ready; read x") as s:
        s.sees("ready")
        guards = children(s.process.pid, "husk-terminal")
        s.type("x\n")
        equal(s.ends(), 0, "exit code")
        check(not os.path.exists(f"/proc/{guards[0]}"), "the guard is left")


def children(pid, name):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        found = file.read().split()
    return [child for child in found
            if pathlib.Path(f"/proc/{child}/comm").read_text(encoding="ascii").strip() == name]


@test
def a_stopped_husk_gives_the_terminal_back(t):
    with Screen(t, "shell", *limits(t)) as s:
        s.sees(r"[#$] ")
        stop_and_go_on(s)
        s.type("echo go-$((1+1))\n")
        s.sees("go-2")
        s.type("exit\n")
        equal(s.ends(), 0, "exit code")
        s.is_as_before()


@test
def a_closed_window_ends_the_box(t):
    with Screen(t, "shell", *limits(t)) as s:
        s.sees(r"[#$] ")
        s.type(f"exec sleep {t.marker}\n")
        time.sleep(0.5)
        os.close(s.main)
        os.close(s.side)
        s.main = s.side = -1
        s.process.wait(30 * t.patience)


@test
def nothing_is_left_to_type_for_the_next_shell(t):
    """A terminal answers questions by typing; an answer that nobody reads is dropped."""
    with Screen(t, "run", *limits(t), "-it", "--", "sh", "-c", "echo ready; sleep 2") as s:
        s.sees("ready")
        s.type("rm -rf important\n")
        equal(s.ends(), 0, "exit code")
        equal(left_to_read(s), b"", "what is left")


def left_to_read(s):
    mode = termios.tcgetattr(s.side)
    mode[3] &= ~termios.ICANON
    mode[6][termios.VMIN] = 0
    termios.tcsetattr(s.side, termios.TCSANOW, mode)
    return os.read(s.side, 100)


@test
def answers_that_come_late_are_not_for_the_next_shell(t):
    """The box asks and ends; the terminal, far away, answers then."""
    with Screen(t, "run", *limits(t), "-it", "--", "printf", r"\033[cend") as s:
        s.sees(re.escape("\x1b[c") + "end")
        s.sees(re.escape("\x1b[5n"))
        s.type("\x1b[?62;4c")
        s.type("\x1b[0n")
        equal(s.ends(), 0, "exit code")
        s.is_as_before()
        equal(left_to_read(s), b"", "what is left")
    with Screen(t, "run", *limits(t), "-it", "--", "printf", r"\033[cend") as s:
        equal(s.ends(), 0, "of a terminal that does not answer")
        s.is_as_before()
    with Screen(t, "run", *limits(t), "-it", "--", "echo", "end") as s:
        equal(s.ends(), 0, "exit code")
        check(b"\x1b" not in s.text, "asked without need")


@test
def the_box_cannot_reach_the_callers_terminal(t):
    code = ("import fcntl, os, termios\n"
            "for fd in range(3):\n"
            " try: fcntl.ioctl(fd, 0x5412, b'x')\n"  # TIOCSTI
            " except OSError as e: print('refused', e.errno)\n"
            " a = termios.tcgetattr(fd); a[3] &= ~termios.ECHO\n"
            " termios.tcsetattr(fd, termios.TCSANOW, a)\n"
            "print(os.ttyname(0), os.listdir('/dev/pts'))")
    with Screen(t, "code", *limits(t), "-it", "-c", code) as s:
        equal(s.ends(), 0, "exit code")
        shown = s.text.decode()
        contains(shown, "/dev/pts/0")
        check("important" not in shown, "text")
        s.is_as_before()


@test
def a_program_may_close_its_terminal_and_come_back(t):
    done = t.run([t.command, "run", *limits(t), "-t", "--", "sh", "-c",
                  "exec 0<&- 1>&- 2>&-; sleep .3; echo back >/dev/tty"])
    equal((done.status, done.out), (0, "back\r\n"), "output")


@test(long=True)
def the_deadline_is_announced(t):
    with Screen(t, "shell", *limits(t), "--timeout", "12") as s:
        s.sees(r"[#$] ")
        s.sees("husk: the deadline ends this box in 1 s")
        equal(s.ends(), 124, "exit code")
        s.is_as_before()


@test
def what_does_not_go_together_is_said(t):
    done = t.husk("run", "-t", "--json", "--", "true")
    equal((done.status, done.stdout), (125, b""), "-t --json")
    contains(done.err, "--tty")
    done = t.husk("shell", "ls")
    equal(done.status, 125, "shell ls")


@test(needs=("vim",))
def an_editor_works(t):
    with Screen(t, "run", *limits(t), "--workspace", t.tmp / "w", "-it", "--", "vi", "f") as s:
        time.sleep(1)
        s.type("ihello from vi\x1b")
        time.sleep(0.3)
        s.type(":wq\r")
        equal(s.ends(), 0, "exit code")
        s.is_as_before()
    equal((t.tmp / "w" / "f").read_text(), "hello from vi\n", "the file")


@test
def a_pager_and_a_line_editor_work(t):
    with Screen(t, "run", *limits(t), "-it", "--", "sh", "-c", "seq 1 500 | less") as s:
        s.sees("1\r\n2\r\n3")
        s.type("G")
        s.sees("500")
        s.type("q")
        equal(s.ends(), 0, "less")
        s.is_as_before()
    with Screen(t, "run", *limits(t), "-it", "--", "python3", "-q") as s:
        s.sees(">>> ")
        s.type("6*7\n")
        s.sees("42")
        s.type("\x1b[A\n")  # the line before, again
        s.sees("42")
        s.type("exit()\n")
        equal(s.ends(), 0, "python3")
        s.is_as_before()


@test(needs=("tmux",))
def under_tmux(t):
    """A shell in a pane of tmux: full-screen programs and a line editor work, and a pane
    that is made larger is passed on."""
    socket = str(t.tmp / "tmux")

    def tmux(*words):
        return subprocess.run(["/usr/bin/tmux", "-S", socket, "-f", "/dev/null", *words],
                              env={**t.env, "SHELL": "/bin/sh"}, capture_output=True,
                              text=True, timeout=60, check=True).stdout

    def shows(part):
        end = time.monotonic() + 30 * t.patience
        while time.monotonic() < end:
            text = tmux("capture-pane", "-p")
            if part in text:
                return
            time.sleep(0.1)
        contains(text, part)

    def prompted():
        """The shell asks again: a program that ends may throw away what was typed ahead."""
        end = time.monotonic() + 30 * t.patience
        while tmux("capture-pane", "-p").rstrip().rsplit("\n", 1)[-1] != "now>":
            check(time.monotonic() < end, "the shell does not ask again")
            time.sleep(0.1)

    tmux("new-session", "-d", "-x", "90", "-y", "30",
         " ".join([t.command, "shell", *limits(t)]))
    try:
        tmux("send-keys", "PS1='now> '; clear", "Enter")
        prompted()
        tmux("send-keys", "stty size", "Enter")
        shows("90")
        tmux("send-keys", "top", "Enter")
        shows("load average")
        tmux("send-keys", "q")
        prompted()
        tmux("send-keys", "clear; seq 1 500 | less", "Enter")
        shows("1\n2\n3")
        tmux("send-keys", "G")
        shows("500")
        tmux("send-keys", "q")
        prompted()
        tmux("send-keys", "clear; python3 -q", "Enter")
        shows(">>>")
        tmux("send-keys", "6*7", "Enter")
        shows("42")
        tmux("send-keys", "Up", "Left", "BSpace", "+1-", "Enter")  # 6*7 to 6+1-7
        shows("6+1-7\n0")
        tmux("send-keys", "exit()", "Enter")
        prompted()
        if os.path.exists("/usr/bin/vi"):
            tmux("send-keys", "clear; vi -u NONE f", "Enter")
            shows("~\n~\n~")
            tmux("send-keys", "ihello from vi", "Escape")
            tmux("send-keys", ":wq", "Enter")
            prompted()
            tmux("send-keys", "clear; cat f; wc -c f", "Enter")
            shows("hello from vi\n14 f")
        tmux("resize-window", "-x", "101", "-y", "31")
        tmux("send-keys", "clear; stty size", "Enter")
        shows("101")
    finally:
        subprocess.run(["/usr/bin/tmux", "-S", socket, "kill-server"], env=t.env,
                       capture_output=True, check=False)
