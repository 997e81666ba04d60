# SPDX-License-Identifier: Apache-2.0
"""Every system call that reaches past a box, through every door that the kernel has: by its
own number, by x32 numbers, by the gate of 32-bit programs, from a 32-bit program.

The lists are the tests' own: they say what must be closed, not how the policy closes it."""

from harness import check, contains, equal, test
from integration.boxes import ended, faulted, fault, probe, py, sh
from integration.clients import static

# name: (x86-64 number, i386 number), arguments. "bad" is an address where nothing is, so
# that a call which gets through has something to complain about and does nothing.
MOUNTS = {
    "mount": (165, 21), "umount2": (166, 52), "pivot_root": (155, 217),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "open_tree_attr": (467, 467),
}
NAMESPACES = {"unshare": (272, 310), "setns": (308, 346)}
MODULES = {"init_module": (175, 128), "delete_module": (176, 129), "finit_module": (313, 350),
           "kexec_load": (246, 283), "kexec_file_load": (320, None)}
MACHINE = {"reboot": (169, 88), "swapon": (167, 87), "swapoff": (168, 115), "acct": (163, 51),
           "settimeofday": (164, 79), "clock_settime": (227, 264), "iopl": (172, 110),
           "ioperm": (173, 101), "syslog": (103, 103), "quotactl": (179, 131),
           "nfsservctl": (180, 169), "lookup_dcookie": (212, 253), "vhangup": (153, 111),
           "_sysctl": (156, 149), "sethostname": (170, 74), "setdomainname": (171, 121),
           "stime": (None, 25), "clock_settime64": (None, 404), "uselib": (134, 86)}
SURFACES = {"bpf": (321, 357), "perf_event_open": (298, 336), "userfaultfd": (323, 374),
            "add_key": (248, 286), "request_key": (249, 287), "keyctl": (250, 288),
            "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
            "io_uring_register": (427, 427), "open_by_handle_at": (304, 342),
            "process_vm_readv": (310, 347), "process_vm_writev": (311, 348),
            "pidfd_getfd": (438, 438), "fanotify_init": (300, 338), "kcmp": (312, 349),
            "move_pages": (279, 317), "migrate_pages": (256, 294), "vm86": (None, 166),
            "vm86old": (None, 113), "modify_ldt": (154, 123), "memfd_secret": (447, 447),
            "quotactl_fd": (443, 443)}
ALL = {**MOUNTS, **NAMESPACES, **MODULES, **MACHINE, **SURFACES}
# What a refusal looks like. EINVAL, EFAULT or 0 would be the kernel's own answer.
REFUSALS = {"ENOSYS", "EPERM"}
ARGUMENTS = ":bad:bad:bad:bad:bad"


def numbers(column):
    return {name: pair[column] for name, pair in ALL.items() if pair[column] is not None}


def answers(result):
    """{number: (how, what)} of the probe's lines."""
    found = {}
    for line in result["stdout"].splitlines():
        number, how, *rest = line.split()
        found[number] = (how, rest[-1])
    return found


def check_refused(t, abi, wanted, m32=False):
    words = [f"{number}{ARGUMENTS}" for number in wanted.values()]
    result = probe(t, "calls", abi, *words, m32=m32)
    equal(result["exit_code"], 0, result["stderr"])
    got = answers(result)
    equal(len(got), len(set(wanted.values())), "answers")
    wrong = {}
    for name, number in wanted.items():
        how, what = got[str(number)]
        if how != "killed" and what not in REFUSALS:
            wrong[name] = (how, what)
    check(not wrong, f"not refused by {abi}{' (32-bit program)' * m32}: {wrong}")
    return got


@test(needs=("cc",))
def by_number(t):
    got = check_refused(t, "native", numbers(0))
    for name in (*MOUNTS, *NAMESPACES, *MODULES):
        equal(got[str(ALL[name][0])][0], "killed", name)


@test(needs=("cc",))
def by_the_old_gate(t):
    got = check_refused(t, "i386", numbers(1))
    for name in (*MOUNTS, *NAMESPACES):
        equal(got[str(ALL[name][1])][0], "killed", name)


@test(needs=("m32",))
def from_a_32_bit_program(t):
    check_refused(t, "native", numbers(1), m32=True)
    ended(probe(t, "calls", "native", "20", m32=True))


@test(needs=("cc",))
def by_x32_number(t):
    """Closed before the kernel can say whether it has x32."""
    check_refused(t, "x32", {**numbers(0), "kexec_load of x32": 528,
                             "process_vm_readv of x32": 539, "process_vm_writev of x32": 540})


@test(needs=("cc",))
def control(t):
    """The probe's calls do get through where no filter stands, so a refusal is the box's."""
    program = static(t, "calls")
    words = [f"{number}{ARGUMENTS}" for number in (165, 428, 430, 321, 425, 250, 442)]
    done = t.run([program, "native", *words])
    got = answers({"stdout": done.out})
    open_here = [number for number, (how, what) in got.items()
                 if how == "returned" and what not in REFUSALS]
    check("165" in open_here or "425" in open_here or t.who != "root", got)
    check(all(how == "returned" for how, _ in got.values()), got)


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
def numbers_with_garbage_above(t):
    """The kernel looks at 32 bits of a number; so must the filter."""
    for high in (1, 0xdead):
        spec = str((high << 32) | 165)
        result = probe(t, "calls", "here", "native", spec + ARGUMENTS)
        check(fault(result) == "escape_blocked" or "ENOSYS" in result["stdout"], result)


@test(needs=("cc",))
def namespaces_by_clone(t):
    """clone with a namespace flag is refused, clone3 is not there, threads and forks work."""
    result = probe(t, "doors", "clone-plain", "clone3-plain", "clone3-user", "clone-user",
                   "clone-mount")
    got = answers(result)
    equal((got["clone3-plain"], got["clone3-user"]), (("returned", "ENOSYS"),) * 2)
    equal(got["clone-plain"], ("returned", "-"))
    for name in ("clone-user", "clone-mount"):
        check(got[name][0] == "killed" or got[name][1] == "EPERM", f"{name} {got[name]}")
    equal(fault(result), "escape_blocked")


@test(needs=("cc",))
def sockets_that_no_namespace_holds(t):
    """vsock reaches the machine below; also with flags, with garbage in the upper half of the
    register, and by io_uring."""
    got = answers(ended(probe(t, "doors", "vsock", "vsock-high", "vsock-flags", "alg", "packet",
                              "raw", "netfilter", "uring", "unix")))
    equal(got.pop("unix"), ("returned", "-"))
    equal(got.pop("uring"), ("returned", "ENOSYS"))
    for name, answer in got.items():
        check(answer[1] in ("EAFNOSUPPORT", "EPERM", "EPROTONOSUPPORT"), f"{name} {answer}")
    code = "import socket\nfor a in ((40, 1), (38, 5), (17, 3), (2, 3), (31, 3), (29, 3), (45, 1)):" \
           "\n    try:\n        socket.socket(*a); print('made', a)\n    except OSError: pass"
    ended(py(t, code), 0, "")


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


@test
def keys_of_the_host(t):
    """No keyring is reached, and none is listed."""
    ended(sh(t, "cat /proc/keys; cat /proc/key-users 2>/dev/null | wc -l >/dev/null"), 0, "")
    code = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n" \
           "for call in ((248, b'user', b'husk', b'x', 1, -4), (250, 10, -4, b'user', b'tok', 0)," \
           " (249, b'user', b'tok', 0, -4)):\n    r = libc.syscall(*call)\n" \
           "    print(r, ctypes.get_errno())"
    for line in ended(py(t, code))["stdout"].splitlines():
        check(line in ("-1 38", "-1 1"), line)


@test(needs=("cc",))
def strict_is_no_weaker(t):
    """The same lists under the allowlist."""
    for abi, column in (("native", 0), ("i386", 1), ("x32", 0)):
        wanted = numbers(column)
        words = [f"{number}{ARGUMENTS}" for number in wanted.values()]
        got = answers(probe(t, "calls", abi, *words, options=("--seccomp", "strict")))
        wrong = {n: a for n, a in got.items() if a[0] != "killed" and a[1] not in REFUSALS}
        equal(wrong, {}, abi)


@test(needs=("cc",))
def the_first_denied_call_is_named(t):
    """Each call of the mounts' and namespaces' list by its own name."""
    for name in (*MOUNTS, *NAMESPACES):
        result = faulted(probe(t, "calls", "here", "native", f"{ALL[name][0]}{ARGUMENTS}"),
                         "escape_blocked", 159)
        equal(result["fault"]["detail"], name)
    result = faulted(probe(t, "calls", "here", "i386", f"52{ARGUMENTS}"), "escape_blocked", 159)
    contains(result["fault"]["detail"], "umount2")
