# SPDX-License-Identifier: Apache-2.0
"""Results: what the code did, what the sandbox did, and how the streams come."""

import os

import husk
from boxes import ended, raised, sandbox
from harness import check, contains, equal, test


@test
def deadline_is_a_timeout_fault(t):
    with sandbox(t, timeout_s=0.5) as box:
        r = box.run_code("print('before', flush=True)\nwhile True: pass")
        equal((r.fault.type, r.exit_code, r.success), ("timeout", 124, False))
        equal(r.stdout, "before\n")
        check(r.duration_ms >= 500, f"{r.duration_ms} ms")
        contains(r.fault.message, "0.500")


@test
def call_may_shorten_the_deadline_only(t):
    with sandbox(t, timeout_s=20) as box:
        r = box.run(["sleep", t.marker], timeout_s=0.3)
        equal(r.fault.type, "timeout")
        ended(box.run(["true"], timeout_s=20))
        raised(husk.SandboxError, lambda: box.run(["true"], timeout_s=21), "timeout")
        raised(husk.SandboxError, lambda: box.run_code("1", timeout_s=0), "timeout_s")


@test
def denied_call_is_named(t):
    with sandbox(t) as box:
        r = box.run_code("import ctypes; ctypes.CDLL(None).mount(0, 0, 0, 0, 0)")
        equal((r.fault.type, r.exit_code, r.signal), ("escape_blocked", 159, 31))
        contains(r.fault.detail, "mount")


@test(who=("root",))
def memory_cap_is_oom(t):
    with sandbox(t, memory_mb=64) as box:
        r = box.run_code("bytearray(300 << 20)")
        equal((r.fault.type, r.exit_code), ("oom", 137))
        contains(r.fault.detail, str(64 << 20))
        equal(r.limits.memory, "enforced")


@test
def kill_by_itself_is_killed(t):
    with sandbox(t) as box:
        r = box.run(["sh", "-c", "kill -9 $$"])
        equal((r.fault.type, r.exit_code, r.signal), ("killed", 137, 9))


@test
def codes_that_look_like_signals_are_the_programs(t):
    with sandbox(t) as box:
        for code in (0, 1, 42, 124, 125, 126, 127, 137, 143, 159, 255):
            r = ended(box.run(["sh", "-c", f"echo 'husk: startup_failed' >&2; exit {code}"]),
                      code=code)
            equal(r.signal, None)


@test
def signal_of_the_code_is_no_fault(t):
    with sandbox(t) as box:
        r = ended(box.run_code("import os; os.kill(os.getpid(), 11)"), code=139)
        equal(r.signal, 11)


@test
def missing_program_is_127_and_says_so(t):
    with sandbox(t) as box:
        r = ended(box.run(["no-such-program"]), code=127)
        contains(r.stderr, "no-such-program")
        r = ended(box.run(["/etc/passwd"]), code=126)
        contains(r.stderr, "/etc/passwd")


@test
def failed_start_is_data(t):
    """A working directory that is not there shows only in the box."""
    with sandbox(t) as box:
        r = box.run(["true"], workdir="/no/such/place")
        equal((r.fault.type, r.exit_code), ("startup_failed", 125))
        contains(r.fault.detail + r.fault.message, "/no/such/place")


@test
def streams_are_exact(t):
    with sandbox(t) as box:
        r = ended(box.run_code("""
import os
os.write(1, bytes(range(256)) + 'é'.encode())
os.write(2, b'a\\0b')
"""))
        equal(r.stdout_bytes, bytes(range(256)) + "é".encode())
        equal(r.stdout, (bytes(range(256)) + "é".encode()).decode("utf-8", "replace"))
        equal((r.stderr, r.stderr_bytes), ("a\0b", b"a\0b"))


@test
def output_past_the_cap_is_dropped_and_said(t):
    with sandbox(t, max_output_bytes=1000) as box:
        r = ended(box.run_code("import os; os.write(1, b'x' * 5000); os.write(2, b'e')"))
        equal((len(r.stdout), r.truncated, r.stderr), (1000, True, "e"))
        equal(box.run(["echo", "x"]).truncated, False)


@test(timeout=120)
def flood_of_one_stream_does_not_block(t):
    with sandbox(t, max_output_bytes=1 << 20) as box:
        for stream, other in ((1, 2), (2, 1)):
            r = ended(box.run_code(f"""
import os
for _ in range(50): os.write({stream}, b'x' * (1 << 20))
os.write({other}, b'end')
"""))
            sizes = {1: r.stdout, 2: r.stderr}
            equal((len(sizes[stream]), sizes[other], r.truncated), (1 << 20, "end", True))


@test
def callbacks_see_every_byte_in_order(t):
    seen = {"out": bytearray(), "err": bytearray()}
    with sandbox(t, max_output_bytes=10) as box:
        r = ended(box.run_code("""
import os
for i in range(2000):
    os.write(1, b'%06d' % i)
    if i % 100 == 0: os.write(2, b'%04d' % i)
""", on_stdout=seen["out"].extend, on_stderr=seen["err"].extend))
        equal(bytes(seen["out"]), b"".join(b"%06d" % i for i in range(2000)))
        equal(bytes(seen["err"]), b"".join(b"%04d" % i for i in range(0, 2000, 100)))
        equal((r.stdout, r.truncated), ("0000000000"[:6] + "0000", True))


@test
def output_comes_before_the_end(t):
    """The box waits for what the callback does."""
    with sandbox(t, workspace=str(t.tmp / "w")) as box:
        def answer(_):
            box.write_file("answer", "x")
        ended(box.run_code("""
import os, time
print('question', flush=True)
while not os.path.exists('answer'): time.sleep(0.01)
""", on_stdout=answer))


@test
def exception_in_a_callback_ends_the_box_and_is_raised(t):
    class Mine(Exception):
        pass

    def fail(_):
        raise Mine("stop")
    with sandbox(t) as box:
        try:
            box.run(["sh", "-c", f"echo x; sleep {t.marker}"], on_stdout=fail)
        except Mine:
            ended(box.run(["true"]))
            return
    check(False, "the exception was lost")


@test
def stdin_is_empty_or_what_is_given(t):
    with sandbox(t) as box:
        ended(box.run(["cat"]), stdout="")
        ended(box.run(["cat"], stdin="text é"), stdout="text é")
        equal(box.run(["cat"], stdin=b"\0\xff").stdout_bytes, b"\0\xff")
        ended(box.run(["cat"], stdin=b""), stdout="")
        big = os.urandom(3 << 20)
        equal(box.run(["cat"], stdin=big).stdout_bytes == big, True)
        (t.tmp / "in").write_text("of a file")
        with open(t.tmp / "in", encoding="utf-8") as file:
            ended(box.run(["cat"], stdin=file), stdout="of a file")
        ended(box.run_code("print(input())", stdin="line\n"), stdout="line\n")
        raised(husk.SandboxError, lambda: box.run(["cat"], stdin=5), "stdin")


@test
def usage_and_limits_are_told(t):
    with sandbox(t, cpus=1) as box:
        r = ended(box.run_code("sum(range(3_000_000))"))
        check(r.usage.wall_us > 0 and r.usage.cpu_us > 1000, f"{r.usage}")
        check(r.usage.memory_peak_bytes is None or r.usage.memory_peak_bytes > 1 << 20,
              f"{r.usage}")
        states = {r.limits.memory, r.limits.cpus, r.limits.pids}
        check(states <= {"enforced", "best-effort"}, f"{r.limits}")
    with sandbox(t, memory_mb=None, pids=None) as box:
        r = ended(box.run(["true"]))
        equal((r.limits.memory, r.limits.cpus, r.limits.pids), ("off", "off", "off"))


@test
def every_field_is_there_in_every_outcome(t):
    with sandbox(t, timeout_s=5) as box:
        outcomes = [box.run(["true"]), box.run(["false"]), box.run(["none-such"]),
                    box.run(["sleep", "60"], timeout_s=0.2),
                    box.run(["true"], workdir="/none"), box.run(["sh", "-c", "kill -9 $$"])]
        for r in outcomes:
            check(isinstance(r.stdout, str) and isinstance(r.stderr, str), f"{r}")
            check(isinstance(r.exit_code, int) and isinstance(r.files, list), f"{r}")
            check(isinstance(r.duration_ms, int) and r.duration_ms >= 0, f"{r}")
            check(r.fault is None or (r.fault.type and r.fault.message), f"{r}")
            equal(r.success, r.exit_code == 0 and r.fault is None)


@test
def code_is_run_as_the_interpreter_would(t):
    with sandbox(t) as box:
        ended(box.run_code(""), stdout="")
        ended(box.run_code("  \n"), stdout="")
        ended(box.run_code("print(1)\r\nprint(2)\r\n"), stdout="1\n2\n")
        ended(box.run_code("print('grün', __name__)"), stdout="grün __main__\n")
        ended(box.run_code(b"print(3)"), stdout="3\n")
        raised(husk.SandboxError, lambda: box.run_code("x = '\ud800'"), "code")
        raised(husk.SandboxError, lambda: box.run_code(5), "code")


@test
def working_directory_and_user(t):
    with sandbox(t, workdir="/tmp", user=7) as box:
        ended(box.run(["sh", "-c", "pwd; id -u"]), stdout="/tmp\n7\n")
        ended(box.run(["pwd"], workdir="/usr"), stdout="/usr\n")
    with sandbox(t, user="5:6") as box:
        ended(box.run(["sh", "-c", "id -u; id -g"]), stdout="5\n6\n")


@test
def root_is_read_only_unless_asked(t):
    with sandbox(t) as box:
        contains(box.run(["touch", "/usr/x"]).stderr, "Read-only")
    with sandbox(t, writable_root=True) as box:
        ended(box.run(["sh", "-c", "touch /usr/local/bin/x && echo y"]), stdout="y\n")
        check(not os.path.exists("/usr/local/bin/x"), "it is on the host")


@test
def strict_filter_runs_ordinary_code(t):
    with sandbox(t, seccomp="strict") as box:
        ended(box.run_code("print(sum(range(10)))"), stdout="45\n")


@test
def tmp_is_as_large_as_asked(t):
    with sandbox(t, tmp_mb=8) as box:
        r = box.run(["sh", "-c", "head -c 20000000 /dev/zero >/tmp/x"])
        equal(r.success, False)
        contains(r.stderr, "No space left")


@test
def denials_are_listed_where_asked_for(t):
    """What was refused, by which layer, and what loosens it; nothing where nobody asked."""
    code = "import os\ntry:\n    os.mkdir('/usr/made')\nexcept OSError:\n    pass"
    with sandbox(t) as box:
        r = box.run_code(code)
        equal((r.denials, r.denials_complete), ([], False))
    with sandbox(t, explain_denials=True) as box:
        for _ in range(3):  # of each box, not of the first alone
            r = box.run_code(code)
            equal((r.success, r.denials_complete), (True, True))
            equal([(d.layer, d.call, d.subject, d.answer, d.times, d.loosen)
                   for d in r.denials if d.layer == "read-only"],
                  [("read-only", "mkdir", "/usr/made", "EROFS", 1, "--writable-root")])
        equal(box.run(["true"]).denials, [])
