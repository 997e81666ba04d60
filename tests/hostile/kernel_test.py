# SPDX-License-Identifier: Apache-2.0
"""The kernel's surface: every call that is closed, by each of its numbers, and what several of
them together would open. Arguments are such that no call could do harm were it not closed."""

import ctypes
import errno
import os
import secrets

from harness import check, contains, equal, test
from integration.boxes import ended, faulted, probe, py, sh
from integration.clients import static

# Ended and reported by name: {name: (number on x86-64, on i386, arguments)}. None: not there.
KILLED = {
    "acct": (163, 51, ":bad"),
    "delete_module": (176, 129, ":bad"),
    "finit_module": (313, 350, ":-1:bad"),
    "fsconfig": (431, 431, ":-1:99"),
    "fsmount": (432, 432, ":-1"),
    "fsopen": (430, 430, ":bad"),
    "fspick": (433, 433, ":-1:bad"),
    "init_module": (175, 128, ":bad:0:bad"),
    "kexec_file_load": (320, None, ":-1:-1"),
    "kexec_load": (246, 283, ":0:99:bad:0"),
    "mount": (165, 21, ":bad:bad"),
    "mount_setattr": (442, 442, ":-1:bad"),
    "move_mount": (429, 429, ":-1:bad:-1:bad"),
    "open_tree": (428, 428, ":-1:bad"),
    "open_tree_attr": (467, 467, ":-1:bad"),
    "pivot_root": (155, 217, ":bad:bad"),
    "reboot": (169, 88, ":1:2:3"),
    "setns": (308, 346, ":-1"),
    "swapoff": (168, 115, ":bad"),
    "swapon": (167, 87, ":bad"),
    "umount2": (166, 52, ":bad"),
    "unshare": (272, 310, ":0"),
}
# Answered with an errno, since honest programs try them.
REFUSED = {
    "_sysctl": (156, 149, ":bad", "ENOSYS"),
    "add_key": (248, 286, ":bad", "ENOSYS"),
    "bpf": (321, 357, ":0:bad:64", "EPERM"),
    "chroot": (161, 61, ":bad", "EPERM"),
    "clock_settime": (227, 264, ":0:bad", "EPERM"),
    "clone3": (435, 435, ":bad:88", "ENOSYS"),
    "fanotify_init": (300, 338, ":-1", "EPERM"),
    "io_setup": (206, 245, ":1:bad", "ENOSYS"),
    "io_uring_enter": (426, 426, ":-1", "ENOSYS"),
    "io_uring_register": (427, 427, ":-1", "ENOSYS"),
    "io_uring_setup": (425, 425, ":1:bad", "ENOSYS"),
    "ioperm": (173, 101, ":0:0", "EPERM"),
    "iopl": (172, 110, ":0", "EPERM"),
    "kcmp": (312, 349, ":1:1:0", "ENOSYS"),
    "keyctl": (250, 288, ":0:-1", "ENOSYS"),
    "lookup_dcookie": (212, 253, "", "ENOSYS"),
    "mbind": (237, 274, ":bad", "ENOSYS"),
    "memfd_secret": (447, 447, "", "ENOSYS"),
    "migrate_pages": (256, 294, "", "ENOSYS"),
    "modify_ldt": (154, 123, ":0:bad:1", "ENOSYS"),
    "move_pages": (279, 317, ":0:1:bad", "ENOSYS"),
    "nfsservctl": (180, 169, "", "ENOSYS"),
    "open_by_handle_at": (304, 342, ":-1:bad", "ENOSYS"),
    "perf_event_open": (298, 336, ":bad", "ENOSYS"),
    "pidfd_getfd": (438, 438, ":-1", "ENOSYS"),
    "process_vm_readv": (310, 347, ":1", "ENOSYS"),
    "process_vm_writev": (311, 348, ":1", "ENOSYS"),
    "quotactl": (179, 131, ":-1:bad", "EPERM"),
    "quotactl_fd": (443, 443, ":-1", "EPERM"),
    "request_key": (249, 287, ":bad", "ENOSYS"),
    "set_mempolicy": (238, 276, ":99:bad", "ENOSYS"),
    "setdomainname": (171, 121, ":bad:1", "EPERM"),
    "sethostname": (170, 74, ":bad:1", "EPERM"),
    "settimeofday": (164, 79, ":bad", "EPERM"),
    "stime": (None, 25, ":bad", "EPERM"),
    "syslog": (103, 103, ":99", "EPERM"),
    "uselib": (134, 86, ":bad", "ENOSYS"),
    "userfaultfd": (323, 374, ":-1", "ENOSYS"),
    "vhangup": (153, 111, "", "EPERM"),
    "vm86": (None, 166, ":99", "ENOSYS"),
}
NAMESPACES = {"mount": 0x00020000, "cgroup": 0x02000000, "uts": 0x04000000,
              "ipc": 0x08000000, "user": 0x10000000, "pid": 0x20000000, "net": 0x40000000}
# Not made outside the box, where they would be answered: one has its effect at once.
NO_CONTROL = ("vhangup",)
X32 = 1 << 30


def numbers(table, column):
    """{number: (name, the word for the probe, the rest of the row)} of one ABI."""
    return {row[column]: (name, f"{row[column]}{row[2]}", row[3:])
            for name, row in table.items() if row[column] is not None}


def answers(text):
    """{number: what became of the call} from the lines of the probe."""
    return {int(line.split()[0]): line.split(" ", 1)[1] for line in text.splitlines()}


def never_answered(text, count, case):
    """No call was the kernel's to answer: each ended its process, or there is none."""
    found = answers(text)
    equal(len(found), count, case)
    for number, answer in found.items():
        check(answer in ("killed 9", "killed 31", "returned -38 ENOSYS"), f"{case} {number}: "
              f"{answer}")


def check_refused(t, abi, column, m32=False):
    rows = numbers(REFUSED, column)
    result = probe(t, "calls", abi, *(word for _, word, _ in rows.values()), m32=m32)
    found = answers(ended(result)["stdout"])
    wrong = {name: found.get(number) for number, (name, _, rest) in rows.items()
             if found.get(number) != f"returned -{getattr(errno, rest[0])} {rest[0]}"}
    equal(wrong, {}, "answered otherwise")


def check_killed(t, abi, column, m32=False):
    for name, word, _ in numbers(KILLED, column).values():
        result = faulted(probe(t, "calls", "here", abi, word, m32=m32), "escape_blocked", 159)
        equal((result["fault"]["detail"], result["stdout"]), (name, ""), word)


@test(needs=("cc",))
def calls_that_end_the_program(t):
    check_killed(t, "native", 0)


@test(needs=("cc",))
def calls_that_are_refused(t):
    check_refused(t, "native", 0)


@test(needs=("cc",))
def calls_by_the_old_gate(t):
    """int 0x80 from a 64-bit program, with the numbers of 32-bit ones."""
    check_killed(t, "i386", 1)
    check_refused(t, "i386", 1)


@test(needs=("m32",))
def calls_of_a_32_bit_program(t):
    """It works like any other, and has no more than any other."""
    result = ended(probe(t, "calls", "native", "20", "24", m32=True))
    check(answers(result["stdout"])[24].startswith("returned 0"), result["stdout"])
    check_killed(t, "native", 1, m32=True)
    check_refused(t, "native", 1, m32=True)


@test(needs=("cc",))
def calls_by_x32_numbers(t):
    """Bit 30 makes other numbers of the same calls, and some calls have one of their own."""
    words = [word for table in (KILLED, REFUSED) for _, word, _ in numbers(table, 0).values()]
    words += [str(number) for number in range(512, 548)]
    never_answered(probe(t, "calls", "x32", *words)["stdout"], len(words), "x32")


@test(needs=("cc",))
def numbers_with_high_bits(t):
    """The kernel looks at 32 bits of a number; what lies above must not hide it."""
    for name in ("mount", "unshare", "reboot"):
        number, _, arguments = KILLED[name]
        word = f"{number | 1 << 32}{arguments}"
        result = probe(t, "calls", "here", "native", word)
        check("returned" not in result["stdout"] or " -38 " in result["stdout"],
              f"{name}: {result['stdout']}")


@test(needs=("cc",), who=("root",))
def calls_outside_a_box(t):
    """The control: out here the same words get the kernel's own answers, and are not ended."""
    rows = {**numbers(KILLED, 0), **numbers(REFUSED, 0)}
    rows = {number: row for number, row in rows.items() if row[0] not in NO_CONTROL}
    words = [word for _, word, _ in rows.values()]
    done = t.run([static(t, "calls"), "native", *words])
    found = answers(done.out)
    equal(set(found), set(rows))
    for number, (name, _, rest) in rows.items():
        check("killed" not in found[number], f"{name} outside: {found[number]}")
    told = [name for number, (name, _, rest) in rows.items()
            if rest and not found[number].endswith((rest[0], "ENOSYS", "EPERM"))]
    check(len(told) > 12, f"only {told} are answered otherwise out here")


@test(needs=("cc",))
def strict_closes_them_too(t):
    words = [word for table in (KILLED, REFUSED) for _, word, _ in numbers(table, 0).values()]
    text = probe(t, "calls", "native", *words, options=("--seccomp", "strict"))["stdout"]
    for number, answer in answers(text).items():
        check(answer.startswith("killed") or answer.endswith((" ENOSYS", " EPERM")),
              f"{number}: {answer}")
    equal(len(answers(text)), len(words))


@test(needs=("cc",))
def namespaces_by_clone(t):
    """Each kind by itself, by both ABIs, and with bits that the kernel does not look at."""
    for kind, flag in NAMESPACES.items():
        for abi, word in (("native", f"56:{flag | 17}"), ("i386", f"120:{flag | 17}"),
                          ("native", f"56:{flag | 17 | 1 << 40}")):
            result = faulted(probe(t, "calls", "here", abi, word), "escape_blocked", 159)
            equal((result["fault"]["detail"], result["stdout"]), ("clone", ""), f"{kind} {word}")


@test
def namespaces_by_programs(t):
    result = faulted(sh(t, "unshare -UrmC sh -c 'id; mount -t cgroup -o rdma c /tmp'"),
                     "escape_blocked")
    equal((result["fault"]["detail"], result["stdout"]), ("unshare", ""))


@test(needs=("cc",))
def sockets_that_no_namespace_holds(t):
    """vsock reaches the host whatever the network is; others load modules or see packets.
    The kernel looks at 32 bits of a family."""
    families = {"vsock": 40, "alg": 38, "packet": 17, "xdp": 44, "qipcrtr": 42, "tipc": 30,
                "can": 29, "bluetooth": 31, "rds": 21, "key": 15}
    for network in ("none", "host"):
        for family in families.values():
            for kind in (1, 2, 3, 5):
                result = probe(t, "calls", "native", f"41:{family}:{kind}:0",
                               f"41:{family | 1 << 32}:{kind}:0",
                               f"53:{family}:{kind}:0:bad", options=("--network", network))
                for line in ended(result)["stdout"].splitlines():
                    check(line.split()[3] in ("EAFNOSUPPORT", "EPERM", "EPROTONOSUPPORT"),
                          f"{family} {kind}: {line}")
    result = probe(t, "calls", "i386", "359:40:1:0", "102:1:bad")
    equal(ended(result)["stdout"], "359 returned -97 EAFNOSUPPORT\n102 returned -38 ENOSYS\n")


@test
def a_key_of_the_host(t):
    """A secret in the keyring of the user who calls: not found, not read, not listed."""
    token, name = secrets.token_hex(16), f"husk-test-{t.marker}"
    libc = ctypes.CDLL(None, use_errno=True)
    key = libc.syscall(248, b"user", name.encode(), token.encode(), len(token), -4)
    code = f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(200)
def attempt(*call):
    value = libc.syscall(*call)
    print(value, ctypes.get_errno(), buffer.value)
for ring in (-3, -4, -5):
    attempt(250, 10, ring, b"user", b"{name}", 0)
    attempt(250, 11, ring, buffer, 200)
attempt(250, 11, {key}, buffer, 200)
attempt(249, b"user", b"{name}", None, -3)
attempt(248, b"user", b"husk-in", b"x", 1, -4)
print(open("/proc/keys").read(), end="")
"""
    try:
        if key > 0:  # the control: out here it is there
            equal(libc.syscall(250, 10, -4, b"user", name.encode(), 0), key)
        result = ended(py(t, code))
        equal(result["stdout"].splitlines(), ["-1 38 b''"] * 9)
        check(token not in result["stdout"], "the secret was read")
    finally:
        if key > 0:
            libc.syscall(250, 9, key, -4)


@test
def another_process_is_not_reached(t):
    """PID 1, which has no filter, is neither traced nor read; and a tracer cannot lift the
    filter of what it traces."""
    code = """
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
def attempt(what, value):
    print(what, value, ctypes.get_errno() if value < 0 else 0, flush=True)
SEIZE, ATTACH, SUSPEND_SECCOMP = 0x4206, 16, 1 << 21
attempt("attach", libc.ptrace(ATTACH, 1, None, None))
attempt("seize", libc.ptrace(SEIZE, 1, None, None))
child = os.fork()
if child == 0:
    signal.pause()
attempt("suspend", libc.ptrace(SEIZE, child, None, ctypes.c_void_p(SUSPEND_SECCOMP)))
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
fd = os.pidfd_open(1)
attempt("getfd", libc.syscall(438, fd, 0, 0))
for name, flags in (("mem", os.O_RDWR), ("mem", os.O_RDONLY), ("maps", os.O_RDONLY),
                    ("environ", os.O_RDONLY), ("syscall", os.O_RDONLY), ("stack", os.O_RDONLY),
                    ("pagemap", os.O_RDONLY), ("fdinfo/0", os.O_RDONLY)):
    try:
        got = os.read(os.open(f"/proc/1/{name}", flags), 10) if flags == os.O_RDONLY else \\
            os.open(f"/proc/1/{name}", flags)
        if got != b"":
            print("opened", name)
    except OSError:
        pass
print("end")
"""
    for options in ((), ("--user", "1000:1000"), ("--seccomp", "strict")):
        text = py(t, code, options=options)["stdout"]
        if "strict" in options and not text:
            continue  # ptrace itself is not there
        lines = text.splitlines()
        equal(lines[-1], "end", text)
        for line in lines[:-1]:
            what, value, number = line.split()
            check(what in ("attach", "seize", "suspend", "getfd") and value == "-1" and
                  number in ("1", "38"), line)
        equal(len(lines), 5)


@test
def filters_are_inherited(t):
    """What comes by fork, exec, threads and a filter of its own is held by ours as well."""
    mount = "import ctypes; ctypes.CDLL(None).mount(0, 0, 0, 0, 0)"
    for how in (f"exec python3 -c '{mount}'", f"setsid python3 -c '{mount}' & wait",
                f"sh -c 'sh -c \"python3 -c \\\"{mount}\\\"\"'"):
        result = sh(t, how)
        equal((result["fault"]["type"], result["fault"]["detail"]), ("escape_blocked", "mount"),
              how)


@test
def clocks_are_not_set(t):
    """adjtimex reads for everybody; it sets for nobody here. The value is the present one."""
    code = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
words = (ctypes.c_long * 64)()
print(libc.adjtimex(words) >= 0)
words[0] = 0x0010  # ADJ_STATUS: as it is
print(libc.adjtimex(words), ctypes.get_errno())
words[0] = 0x0010
print(libc.clock_adjtime(0, words), ctypes.get_errno())
"""
    equal(ended(py(t, code))["stdout"], "True\n-1 1\n-1 1\n")


@test
def remounts_and_hidden_mounts(t):
    """By the programs for it: nothing becomes writable, nothing is uncovered."""
    for script in ("mount -o remount,rw /", "mount -o remount,bind,rw /usr",
                   "umount -l /proc/kcore", "umount /proc", "mount --bind /proc /tmp",
                   "mount -t proc x /tmp"):
        result = sh(t, f"{script}; echo x >/usr/evil; head -c 1 /proc/kcore")
        equal(result["fault"] and result["fault"]["type"], "escape_blocked", script)
        equal(result["stdout"], "", script)
    check(not os.path.exists("/usr/evil"), "written on the host")
    contains(sh(t, "echo x >/usr/evil")["stderr"], "Read-only")
