# SPDX-License-Identifier: Apache-2.0
"""What goes in and what comes out: every byte, in order, up to an exact cap."""

import base64
import os
import subprocess

from harness import check, contains, equal, test
from harness.survivors import processes_with
from integration.boxes import box, ended, fault, limits, plain, py, sh
from integration.sessions import INVALID, Session

MIB = 1 << 20
FLOOD = "import os\nfor _ in range(50):\n    os.write({fd}, b'x' * (1 << 20))\n"


def write_all(fd, count):
    """Python code that writes count bytes of a pattern with no line feed at its end."""
    return (f"import os\ndata = bytes(i % 251 for i in range({count}))\n"
            f"while data:\n    data = data[os.write({fd}, data):]\n")


def pattern(count):
    return bytes(i % 251 for i in range(count))


@test
def one_stream_is_flooded(t):
    """50 MiB into one, nothing into the other until the end; the cap is met to the byte."""
    for fd, full, other in ((2, "stderr", "stdout"), (1, "stdout", "stderr")):
        code = FLOOD.format(fd=fd) + f"os.write({3 - fd}, b'end\\n')\n"
        result = ended(py(t, code, options=("--max-output", "1m")))
        equal((len(result[full]), result[other], result["truncated"]), (MIB, "end\n", True))


@test
def the_cap_is_exact(t):
    for count, truncated in ((4095, False), (4096, False), (4097, True)):
        result = ended(py(t, write_all(1, count), options=("--max-output", "4096")))
        got = result.get("stdout_b64")
        data = base64.b64decode(got) if got else result["stdout"].encode()
        equal((data, result["truncated"]), (pattern(count)[:4096], truncated), count)


@test
def each_stream_has_its_own_cap(t):
    result = ended(sh(t, "yes a | head -c 5000; yes b | head -c 5000 >&2",
                      options=("--max-output", "4k")))
    equal((len(result["stdout"]), len(result["stderr"])), (4096, 4096))
    equal((result["stdout"][:2], result["stderr"][:2]), ("a\n", "b\n"))


@test
def nothing_is_lost_without_a_cap(t):
    """50 MiB, through the pipe of plain mode and whole in the result."""
    done = plain(t, "sh", "-c", "yes 0123456789abcde | head -c 52428800")
    equal((done.status, len(done.stdout)), (0, 50 * MIB))
    check(done.stdout == b"0123456789abcde\n" * (50 * MIB // 16), "the bytes differ")
    result = ended(sh(t, "yes 0123456789abcde | head -c 10485760"))
    equal((len(result["stdout"]), result["truncated"]), (10 * MIB, False))


@test
def endless_output_is_bounded(t):
    """The memory of husk does not grow with what the box writes."""
    for script in ("yes", "yes >&2", "yes & yes >&2", "while :; do printf x; done"):
        words = [t.command, "run", *limits(t), "--json", "--max-output", "1m",
                 "--timeout", "1.5", "--", "sh", "-c", script]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, env=t.env, cwd=t.tmp)
        process.stdout.read()
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
        check(usage.ru_maxrss < 64 * 1024 or sanitized(t),
              f"{script}: {usage.ru_maxrss} KiB")


def sanitized(t):
    return b"libasan" in (t.build / "libhusk.so").read_bytes()


@test
def the_tail_is_there(t):
    """100,000 bytes with no line feed at their end, then an exit at once: 200 times."""
    program = ("i=$(printf %01000d 0); for n in $(seq 100); do printf %s $i; done; exit 3")
    with Session(t) as s:
        for _ in range(200):
            result = ended(s.run("bash", "-c", program, skip_files=1), 3)
            equal(len(result["stdout"]), 100_000)


@test
def the_tail_is_there_when_it_is_written_at_once(t):
    code = "import os; os.write(1, b'z' * 60000); os.write(2, b'y' * 60000); os._exit(3)"
    with Session(t) as s:
        for _ in range(20):
            result = ended(s.py(code, skip_files=1), 3)
            equal((len(result["stdout"]), len(result["stderr"])), (60000, 60000))


@test
def bytes_of_every_kind(t):
    """The library has the exact bytes; JSON says where it had to replace some."""
    code = "import os; os.write(1, bytes(range(256))); os.write(2, b'a\\0b\\x1b[31m\\r')"
    with Session(t) as s:
        answer = s.call(code=code, language="python")
        equal(bytes.fromhex(answer["stdout_bytes"]), bytes(range(256)))
        equal(bytes.fromhex(answer["stderr_bytes"]), b"a\0b\x1b[31m\r")
    result = ended(py(t, code))
    equal(base64.b64decode(result["stdout_b64"]), bytes(range(256)))
    contains(result["stdout"], "\ufffd")
    equal(result["stderr"], "a\0b\x1b[31m\r")
    check("stderr_b64" not in result, "valid UTF-8 needs no second form")
    equal(plain(t, "printf", "a\\000b\\033[31m\\377").stdout, b"a\0b\x1b[31m\xff")


@test
def surrogates_and_cut_characters(t):
    for code, exact in (("os.write(1, b'\\xed\\xa0\\x80x')", b"\xed\xa0\x80x"),
                        ("os.write(1, 'ab\\U0001f600'.encode())", b"ab\xf0\x9f")):
        result = ended(py(t, "import os; " + code, options=("--max-output", "4")))
        equal(base64.b64decode(result["stdout_b64"]), exact)
        contains(result["stdout"], "\ufffd")


@test
def streams_are_not_swapped(t):
    result = ended(sh(t, "echo out; echo err >&2; exec >&-; echo gone 2>/dev/null; "
                      "echo more >&2; exit 0"))
    equal((result["stdout"], result["stderr"]), ("out\n", "err\nmore\n"))


@test
def streams_closed_early(t):
    for script, out, err in (("exec >&-; echo x >&2", "", "x\n"), ("exec 2>&-; echo x", "x\n", ""),
                             ("exec >&- 2>&-; exit 0", "", "")):
        result = ended(sh(t, script))
        equal((result["stdout"], result["stderr"]), (out, err), script)


@test
def stdin_is_empty(t):
    """End of file at once, and what waits on the caller's own stdin stays there."""
    ended(box(t, "cat", stdin=b"not for the box"), 0, "")
    contains(py(t, "input()")["stderr"], "EOFError")
    script = f'"{t.command}" run {" ".join(limits(t))} -- cat; cat'
    done = t.run(["sh", "-c", script], stdin=b"for the next\n")
    equal(done.out, "for the next\n")


@test
def stdin_is_given(t):
    data = pattern(3_000_000)
    done = plain(t, "cat", options=("-i",), stdin=data)
    equal((done.status, done.stdout == data), (0, True))
    result = ended(box(t, "wc", "-c", options=("-i",), stdin=data))
    equal(result["stdout"].strip(), "3000000")
    ended(box(t, "sh", "-c", "read a; read b; echo $b-$a", options=("-i",),
              stdin=b"1\n2\n"), 0, "2-1\n")
    equal(plain(t, "sh", options=("-i",), stdin=b"echo hi\n").stdout, b"hi\n")


@test
def stdin_that_nobody_reads(t):
    """The box ends first: the rest is dropped, without SIGPIPE and without waiting."""
    data = b"x" * 2_000_000
    for argv in (("true",), ("head", "-c", "3"), ("sh", "-c", "exec <&-; sleep 0.2; echo end")):
        equal(fault(box(t, *argv, options=("-i",), stdin=data)), None, argv)
    with Session(t) as s:
        for argv in (("true",), ("head", "-c", "3")):
            equal(s.run(*argv, stdin=data)["exit_code"], 0)


@test
def stdin_by_descriptor(t):
    """A pipe that stays open does not hold the call; the box never has the descriptor."""
    read, write = os.pipe()
    with Session(t, pass_fds=(read,)) as s:
        os.write(write, b"one line\n")
        ended(s.sh("read a; echo $a", stdin_fd=read), 0, "one line\n")
        result = ended(s.sh(f"ls -l /proc/self/fd; read a; echo $a; test ! -e /proc/self/fd/"
                            f"{read} || test {read} -le 2", stdin_fd=os_write(write, read)))
        contains(result["stdout"], "second")
        ended(s.run("sleep", "0.1", stdin_fd=read))
        equal(s.call("true", stdin_fd=-5)["code"], INVALID)
        equal(s.call("true", stdin_fd=4000)["code"] in (0, INVALID), True)
    os.close(read)
    os.close(write)


def os_write(fd, answer):
    os.write(fd, b"second\n")
    return answer


@test
def stdin_as_data(t):
    with Session(t) as s:
        ended(s.run("cat", stdin=b""), 0, "")
        answer = s.call("cat", stdin=pattern(500_000))
        check(bytes.fromhex(answer["stdout_bytes"]) == pattern(500_000), "the bytes differ")
        ended(s.run("cat"), 0, "")


@test
def stdin_is_a_file(t):
    file = t.tmp / "input"
    file.write_bytes(pattern(200_000))
    with open(file, "rb") as source:
        done = plain(t, "cat", options=("-i",), stdin=source)
    check(done.stdout == pattern(200_000), "the bytes differ")


@test
def callbacks_see_everything(t):
    """Past the cap too, in order, each stream by itself; and nothing needs to be kept."""
    count = 300_000
    code = write_all(1, count) + write_all(2, 1000)
    with Session(t, max_output_bytes=1000) as s:
        answer = s.call(code=code, language="python", stream=True)
        check(bytes.fromhex(answer["streamed_stdout"]) == pattern(count), "stdout differs")
        equal(bytes.fromhex(answer["streamed_stderr"]), pattern(1000))
        equal((len(answer["stdout_bytes"]) // 2, answer["result"]["truncated"]), (1000, True))
        answer = s.call(code=code, language="python", stream=True, discard_output=1)
        equal((answer["stdout_bytes"], answer["result"]["truncated"]), ("", False))
        equal(answer["streamed_bytes"], count + 1000)


@test
def a_callback_can_stop_the_box(t):
    with Session(t) as s:
        answer = s.call("sh", "-c", f"yes & sleep {t.marker}", stream=True, stop_after=10)
        equal(answer["result"]["fault"]["type"], "cancelled")
        check(answer["streamed_bytes"] >= 10, "stopped before it was told")
        equal(processes_with(t.marker), [])
        ended(s.run("true"))


@test
def the_caller_may_look_up_while_it_waits(t):
    """on_wait comes now and then, also while a stream never rests, and may stop the box."""
    with Session(t) as s:
        answer = s.call("sleep", "0.5", look=True)
        ended(answer["result"])
        check(2 <= answer["looks"] <= 20, f"{answer['looks']} looks in half a second")
        equal(s.call("true")["looks"], 0)
        for script in (f"exec sleep {t.marker}", f"yes & exec sleep {t.marker}"):
            answer = s.call("sh", "-c", script, look=True, last_look=3)
            equal((answer["result"]["fault"]["type"], answer["looks"]), ("cancelled", 3))
            equal(processes_with(t.marker), [])
        ended(s.run("true"))


@test
def cancelled_from_another_thread(t):
    with Session(t) as s:
        result = s.sh(f"echo begun; sleep {t.marker}", cancel_after_ms=300)
        equal((fault(result), result["exit_code"], result["stdout"]),
              ("cancelled", 137, "begun\n"))
        equal(processes_with(t.marker), [])
        equal(fault(s.run("echo", "ran", cancellable=True)), "cancelled", "fired for good")
        ended(s.run("echo", "ran"), 0, "ran\n")
    with Session(t) as s:
        equal(s.ask("cancel")["code"], 0)
        equal(fault(s.run("sleep", t.marker, cancellable=True)), "cancelled")


@test
def the_reader_goes_away(t):
    """`husk run -- yes | head`: husk ends, and so does the box."""
    script = f'"{t.command}" run {" ".join(limits(t))} -- sh -c "yes {t.marker}" | head -n 1'
    equal(t.run(["sh", "-c", script], timeout=20).out, f"{t.marker}\n")
    equal(processes_with(t.marker), [])


@test
def pipes_in_the_box_work(t):
    """SIGPIPE has its default there, whatever it is for the caller."""
    result = ended(sh(t, "yes | head -n 1"), 0, "y\n")
    equal(result["stderr"], "")
