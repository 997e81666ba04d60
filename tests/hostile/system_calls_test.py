# SPDX-License-Identifier: Apache-2.0
"""Calls that nobody has reviewed yet, what a denied call is called, and what reaches for init
or a terminal. The lists of what is denied are in kernel_test.py."""

from harness import check, contains, equal, test
from integration.boxes import ended, faulted, probe, py
from integration.clients import static

# By x86-64 number.
NAMED = {
    "mount": 165, "umount2": 166, "pivot_root": 155, "open_tree": 428, "move_mount": 429,
    "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "mount_setattr": 442,
    "open_tree_attr": 467, "unshare": 272, "setns": 308,
}
# "bad" is an address where nothing is: a call that gets through does nothing.
REFUSALS = {"ENOSYS", "EPERM"}
ARGUMENTS = ":bad:bad:bad:bad:bad"


def answers(result):
    """{number: (how, what)} of the probe's lines."""
    found = {}
    for line in result["stdout"].splitlines():
        number, how, *rest = line.split()
        found[number] = (how, rest[-1])
    return found


@test(needs=("cc",))
def numbers_of_the_future(t):
    """A call that nobody has reviewed is answered as one that does not exist, by each door;
    the program goes on."""
    for abi, first in (("native", 471), ("i386", 471), ("x32", 548)):
        words = [str(n) for n in (*range(first, first + 60), 700, 1000, 4095, 0xffff)]
        result = ended(probe(t, "calls", abi, *words))
        wrong = {n: a for n, a in answers(result).items() if a != ("returned", "ENOSYS")}
        equal(wrong, {}, abi)


@test(needs=("cc",))
def holes_in_the_table(t):
    """Numbers that no kernel has used, and negative ones."""
    words = [str(n) for n in (*range(340, 424, 7), 2**31 - 1, 2**31, 2**32 - 1, -1, -165)]
    result = ended(probe(t, "calls", "native", *words))
    wrong = {n: a for n, a in answers(result).items() if a != ("returned", "ENOSYS")}
    equal(wrong, {})


@test(needs=("cc",))
def programs_that_probe_go_on(t):
    """io_uring, perf and bpf answer with an errno, so that what falls back does fall back."""
    got = answers(ended(probe(t, "calls", "native", "425:8:bad", "298:bad", "321:0:bad:8",
                              "323:0", "250:0", "248:bad:bad")))
    check(all(how == "returned" and what in REFUSALS for how, what in got.values()), got)


@test(needs=("cc",))
def init_is_out_of_reach(t):
    """PID 1 cannot be traced, read, written, or robbed of a descriptor."""
    names = ("trace-init", "attach-init", "read-init", "write-init", "getfd-init",
             "memory-of-init", "suspend-seccomp", "userfaultfd-device")
    for options in ((), ("--user", "1000")):
        got = answers(ended(probe(t, "doors", *names, options=options)))
        for name, (how, what) in got.items():
            check(how == "returned" and what in ("EPERM", "ENOSYS", "EACCES", "ENOENT",
                                                   "EROFS"), f"{name} {how} {what}")


@test(needs=("cc",))
def terminals_are_not_typed_into(t):
    got = answers(ended(probe(t, "doors", "type-into-terminal", "type-with-garbage",
                              "paste-into-console")))
    equal(set(got.values()), {("returned", "EPERM")})


@test(needs=("cc",))
def the_first_denied_call_is_named(t):
    """Each call of the mounts' and namespaces' list by its own name."""
    for name, number in NAMED.items():
        result = faulted(probe(t, "calls", "here", "native", f"{number}{ARGUMENTS}"),
                         "escape_blocked", 159)
        equal(result["fault"]["detail"], name)
    result = faulted(probe(t, "calls", "here", "i386", f"52{ARGUMENTS}"), "escape_blocked", 159)
    contains(result["fault"]["detail"], "umount2")


@test(needs=("cc",))
def a_tracer_cannot_change_a_call(t):
    """A process that traces another replaces a call that is open to all by one that is closed,
    after a filter of its own or before any: it ends as if it had been made outright."""
    for how in ("entry", "event", "exec"):
        control = t.run([static(t, "tracer"), how, "165"])
        contains(control.out, "165 returned -", f"the control: {how}")
        result = probe(t, "tracer", how, "165")
        equal((result["stdout"], result["fault"]["detail"]), ("165 killed 9\n", "mount"), how)
        ended(probe(t, "tracer", how, "425"), 0, "425 returned -38 ENOSYS\n")
        check(ended(probe(t, "tracer", how, "39"))["stdout"].startswith("39 returned 3"), how)
        strict = probe(t, "tracer", how, "165", options=("--seccomp", "strict"))
        check("returned -" not in strict["stdout"], strict)


@test
def requests_that_load_modules(t):
    """The kernel would load a bridge, VLANs, a cipher for whoever names them. What such a
    request is not goes on."""
    code = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
words, fd = ctypes.create_string_buffer(512), libc.socket(2, 1, 0)
for high in (0, 1 << 32):
    for request in (0x8940, 0x8941, 0x89a0, 0x89a1, 0x89a2, 0x89a3, 0x8982, 0x8983):
        print(libc.syscall(16, fd, ctypes.c_ulong(request | high), words), ctypes.get_errno())
    print(libc.syscall(54, fd, ctypes.c_ulong(6 | high), 38, words, 216), ctypes.get_errno())
one = ctypes.c_int(1)
print(libc.setsockopt(fd, 6, 1, ctypes.byref(one), 4), libc.ioctl(fd, 0x5421, ctypes.byref(one)))
"""
    for options in ((), ("--network", "host"), ("--user", "1000:1000")):
        lines = ended(py(t, code, options=options))["stdout"].splitlines()
        equal(lines, [*["-1 65"] * 8, "-1 92"] * 2 + ["0 0"], options)
