/* SPDX-License-Identifier: Apache-2.0 */
/* The denylist: what no box may do. The strict policy stands behind the same rows.
 *
 * KILL is for calls that only something breaking out, or an administrator, makes: the run
 * ends there and the result names the call. An errno is for calls that honest programs
 * make too, to find out whether they may: ENOSYS where they know how to do without, EPERM
 * where that is what the kernel answers an ordinary user.
 *
 * ptrace is not here. A box's processes may debug each other; init cannot be attached to,
 * and since Linux 4.8 a filter is asked again after a tracer has changed a call. */
#include "seccomp/policy_row.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* CLONE_NEWTIME lies in clone's exit signal and cannot be asked for there. */
#define CLONE_NEW_ANY                                                                  \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	 CLONE_NEWPID | CLONE_NEWNET)

enum {
	SOCKET_TYPE = 0xf, /* the kernel's SOCK_TYPE_MASK; the rest are flags */
	PERSONA_FREE = 0x0008 | 0x20000 | 0x40000, /* LINUX32, UNAME26, NO_RANDOMIZE */
	PROTOCOL_MPTCP = 262,
	ADD_TCP_AO_KEY = 38, /* TCP_AO_ADD_KEY of Linux 6.7 */
	SET_ID = S_ISUID | S_ISGID,
	TEMP_FILE = 020000000,	    /* what O_TMPFILE has beside O_DIRECTORY */
	SET_DELEGATION = 1024 + 16, /* F_SETDELEG of Linux 6.19 */
	IOPRIO_PROCESS = 1,	    /* ioprio_set(2) has no header of its own */
	IOPRIO_GROUP = 2,
	IOPRIO_USER = 3,
};

/* Either internet family: the two differ in one bit. */
#define INTERNET FIELD(0, 0xffffffff & ~(AF_INET ^ AF_INET6), AF_INET)

/* A protocol of theirs. The others load modules (SCTP, DCCP, L2TP, SMC ...), which an
 * unprivileged user can then attack. */
#define INTERNET_PROTOCOL(number) \
	PASS_IF2("socket", "internet protocols in daily use", INTERNET, IS(2, number))

#define NO_SUCH_SOCKET(of, protocol)                                                   \
	ROW_IF("socket", SECCOMP_ERRNO, EPROTONOSUPPORT, "loads modules by number", 2, \
	       of, IS(2, protocol))

/* The kernel loads the module for whoever makes the call, before it looks at rights. */
#define ASKS_FOR_MODULES(request, module) \
	FAIL_IF("ioctl", ENOPKG, "loads the module " module, IS(1, request))

static const struct seccomp_row rows[] = {
    FAIL("_sysctl", ENOSYS, "reads and writes kernel settings; gone since 5.5"),
    KILL("acct", "process accounting of the whole host"),
    FAIL("add_key", ENOSYS, "keyrings are not namespaced"),
    FAIL("bpf", EPERM, "programs in the kernel; libraries probe for it"),
    FAIL_IF("chmod", EPERM, "a set-id program would outlive the box on the host",
	    HAS(1, SET_ID)),
    FAIL("chroot", EPERM, "the root is the box's; needs a capability"),
    FAIL("clock_settime", EPERM, "the host's clock; date and test suites try it"),
    FAIL("clock_settime64", EPERM, "the host's clock; date and test suites try it"),
    KILL_IF("clone", "namespaces inside a box open kernel code to it",
	    HAS(0, CLONE_NEW_ANY)),
    FAIL("clone3", ENOSYS, "flags lie in memory; C libraries fall back to clone"),
    FAIL_IF("creat", EPERM, "a set-id program would outlive the box on the host",
	    HAS(1, SET_ID)),
    KILL("delete_module", "kernel modules"),
    FAIL("fanotify_init", EPERM, "watches of whole mounts; once for root alone"),
    FAIL_IF("fchmod", EPERM, "a set-id program would outlive the box on the host",
	    HAS(1, SET_ID)),
    FAIL_IF("fchmodat", EPERM, "a set-id program would outlive the box on the host",
	    HAS(2, SET_ID)),
    FAIL_IF("fchmodat2", EPERM, "a set-id program would outlive the box on the host",
	    HAS(2, SET_ID)),
    FAIL_IF("fcntl", EACCES, "whoever opens the file then waits for the box",
	    IS(1, F_SETLEASE)),
    FAIL_IF("fcntl", EACCES, "whoever changes the directory then waits for the box",
	    IS(1, SET_DELEGATION)),
    FAIL_IF("fcntl64", EACCES, "whoever opens the file then waits for the box",
	    IS(1, F_SETLEASE)),
    FAIL_IF("fcntl64", EACCES, "whoever changes the directory then waits for the box",
	    IS(1, SET_DELEGATION)),
    KILL("finit_module", "kernel modules"),
    KILL("fsconfig", "mounts"),
    KILL("fsmount", "mounts"),
    KILL("fsopen", "mounts"),
    KILL("fspick", "mounts"),
    FAIL("get_mempolicy", ENOSYS, "memory placement is the host's; libnuma asks"),
    KILL("init_module", "kernel modules"),
    FAIL("io_setup", ENOSYS, "counts for the whole machine; databases do without"),
    FAIL("io_uring_enter", ENOSYS, "calls that no filter sees; programs fall back"),
    FAIL("io_uring_register", ENOSYS, "calls that no filter sees; programs fall back"),
    FAIL("io_uring_setup", ENOSYS, "calls that no filter sees; programs fall back"),
    FAIL_IF("ioctl", EPERM, "types into a terminal as if its user did", IS(1, TIOCSTI)),
    FAIL_IF("ioctl", EPERM, "pastes into a virtual console", IS(1, TIOCLINUX)),
    FAIL_IF("ioctl", EPERM, "loads line disciplines, a line of kernel holes",
	    IS(1, TIOCSETD)),
    FAIL_IF("ioctl", EPERM, "takes over the console's output", IS(1, TIOCCONS)),
    ASKS_FOR_MODULES(SIOCGIFBR, "bridge"),
    ASKS_FOR_MODULES(SIOCSIFBR, "bridge"),
    ASKS_FOR_MODULES(SIOCBRADDBR, "bridge"),
    ASKS_FOR_MODULES(SIOCBRDELBR, "bridge"),
    ASKS_FOR_MODULES(SIOCBRADDIF, "bridge"),
    ASKS_FOR_MODULES(SIOCBRDELIF, "bridge"),
    ASKS_FOR_MODULES(SIOCGIFVLAN, "8021q"),
    ASKS_FOR_MODULES(SIOCSIFVLAN, "8021q"),
    FAIL("ioperm", EPERM, "hardware ports; hardware listers try it"),
    FAIL("iopl", EPERM, "hardware ports; hardware listers try it"),
    FAIL_IF2("ioprio_set", EPERM, "init is ours", IS(0, IOPRIO_PROCESS), IS(1, 1)),
    FAIL_IF2("ioprio_set", EPERM, "init is ours", IS(0, IOPRIO_GROUP), IS(1, 1)),
    FAIL_IF("ioprio_set", EPERM, "all processes of a user, init among them",
	    IS(0, IOPRIO_USER)),
    FAIL("kcmp", ENOSYS, "order of kernel addresses; graphics libraries ask"),
    KILL("kexec_file_load", "replaces the kernel"),
    KILL("kexec_load", "replaces the kernel"),
    FAIL("keyctl", ENOSYS, "keyrings are not namespaced"),
    FAIL("listns", ENOSYS, "lists namespaces of the host; new in 6.19"),
    FAIL("lookup_dcookie", ENOSYS, "for a profiler of the whole host; gone since 6.7"),
    FAIL("mbind", ENOSYS, "memory placement is the host's; libnuma asks"),
    FAIL("memfd_secret", ENOSYS, "breaks up the host kernel's direct map"),
    FAIL("migrate_pages", ENOSYS, "memory placement is the host's"),
    FAIL_IF("mknod", EPERM, "device nodes; pipes and sockets are free",
	    FIELD(1, S_IFMT, S_IFCHR)),
    FAIL_IF("mknod", EPERM, "device nodes; pipes and sockets are free",
	    FIELD(1, S_IFMT, S_IFBLK)),
    FAIL_IF("mknod", EPERM, "a set-id program would outlive the box on the host",
	    HAS(1, SET_ID)),
    FAIL_IF("mknodat", EPERM, "device nodes; pipes and sockets are free",
	    FIELD(2, S_IFMT, S_IFCHR)),
    FAIL_IF("mknodat", EPERM, "device nodes; pipes and sockets are free",
	    FIELD(2, S_IFMT, S_IFBLK)),
    FAIL_IF("mknodat", EPERM, "a set-id program would outlive the box on the host",
	    HAS(2, SET_ID)),
    FAIL("modify_ldt", ENOSYS, "segments for 16-bit programs; a line of kernel holes"),
    KILL("mount", "mounts"),
    KILL("mount_setattr", "mounts"),
    KILL("move_mount", "mounts"),
    FAIL("move_pages", ENOSYS, "memory placement is the host's"),
    FAIL("nfsservctl", ENOSYS, "the kernel's file server; gone since 3.1"),
    FAIL_IF2("open", EPERM, "a set-id program would outlive the box on the host",
	     HAS(1, O_CREAT | TEMP_FILE), HAS(2, SET_ID)),
    FAIL("open_by_handle_at", ENOSYS, "opens files by number, past every directory"),
    KILL("open_tree", "mounts"),
    KILL("open_tree_attr", "mounts"),
    FAIL_IF2("openat", EPERM, "a set-id program would outlive the box on the host",
	     HAS(2, O_CREAT | TEMP_FILE), HAS(3, SET_ID)),
    FAIL("openat2", ENOSYS, "the mode lies in memory; programs fall back to openat"),
    FAIL("perf_event_open", ENOSYS, "measures the host; a line of kernel holes"),
    PASS_IF("personality", "the flags that setarch and debuggers use",
	    FIELD(0, 0xffffffff & ~PERSONA_FREE, 0)),
    PASS_IF("personality", "asks which is set", IS(0, 0xffffffff)),
    FAIL("personality", EPERM, "old execution domains"),
    FAIL("pidfd_getfd", ENOSYS, "takes descriptors out of other processes"),
    KILL("pivot_root", "mounts"),
    FAIL_IF("prlimit64", EPERM, "init is ours", IS(0, 1)),
    PASS_IF2("prlimit64", "reading the core limit", IS(1, RLIMIT_CORE), NONE(2)),
    FEIGN_IF2("prlimit64", "keeps the host's core handler away, see runtime/rlimits.c",
	      IS(1, RLIMIT_CORE), NONE(3)),
    FAIL_IF("prlimit64", EPERM, "the same, where the old limit is wanted too",
	    IS(1, RLIMIT_CORE)),
    FAIL("process_vm_readv", ENOSYS, "memory of other processes; strace falls back"),
    FAIL("process_vm_writev", ENOSYS, "memory of other processes; strace falls back"),
    FAIL("quotactl", EPERM, "disk quotas; file servers ask"),
    FAIL("quotactl_fd", EPERM, "disk quotas; file servers ask"),
    KILL("reboot", "stops the machine"),
    FAIL("request_key", ENOSYS, "keyrings are not namespaced"),
    FAIL_IF("sched_setaffinity", EPERM, "init is ours", IS(0, 1)),
    FAIL_IF("sched_setattr", EPERM, "init is ours", IS(0, 1)),
    FAIL_IF("sched_setparam", EPERM, "init is ours", IS(0, 1)),
    FAIL_IF("sched_setscheduler", EPERM, "init is ours", IS(0, 1)),
    FAIL("set_mempolicy", ENOSYS, "memory placement is the host's; libnuma asks"),
    FAIL("set_mempolicy_home_node", ENOSYS, "memory placement is the host's"),
    FAIL("setdomainname", EPERM, "the box's name is given"),
    FAIL("sethostname", EPERM, "the box's name is given"),
    KILL("setns", "enters other namespaces"),
    FAIL_IF2("setpriority", EPERM, "init is ours", IS(0, PRIO_PROCESS), IS(1, 1)),
    FAIL_IF2("setpriority", EPERM, "init is ours", IS(0, PRIO_PGRP), IS(1, 1)),
    FAIL_IF("setpriority", EPERM, "all processes of a user, init among them",
	    IS(0, PRIO_USER)),
    FEIGN_IF("setrlimit", "keeps the host's core handler away, see runtime/rlimits.c",
	     IS(0, RLIMIT_CORE)),
    FAIL_IF2("setsockopt", ENOPROTOOPT, "loads modules of ciphers by name",
	     IS(1, IPPROTO_TCP), IS(2, ADD_TCP_AO_KEY)),
    FAIL("settimeofday", EPERM, "the host's clock; date and test suites try it"),
    PASS_IF("socket", "local sockets", IS(0, AF_UNIX)),
    FAIL_IF2("socket", EPERM, "raw packets; needs a capability", INTERNET,
	     FIELD(1, SOCKET_TYPE, SOCK_RAW)),
    FAIL_IF2("socket", EPERM, "raw packets under their oldest name", INTERNET,
	     FIELD(1, SOCKET_TYPE, SOCK_PACKET)),
    FAIL_IF2("socket", ESOCKTNOSUPPORT, "types that load modules (DCCP by no other name)",
	     INTERNET, HAS(1, SOCKET_TYPE & ~(SOCK_STREAM | SOCK_DGRAM))),
    FAIL_IF2("socket", ESOCKTNOSUPPORT, "no type", INTERNET, FIELD(1, SOCKET_TYPE, 0)),
    /* A protocol under the wrong type or family: the kernel looks for a module. */
    NO_SUCH_SOCKET(FIELD(1, SOCKET_TYPE, SOCK_STREAM), IPPROTO_UDP),
    NO_SUCH_SOCKET(FIELD(1, SOCKET_TYPE, SOCK_STREAM), IPPROTO_ICMP),
    NO_SUCH_SOCKET(FIELD(1, SOCKET_TYPE, SOCK_STREAM), IPPROTO_ICMPV6),
    NO_SUCH_SOCKET(FIELD(1, SOCKET_TYPE, SOCK_DGRAM), IPPROTO_TCP),
    NO_SUCH_SOCKET(FIELD(1, SOCKET_TYPE, SOCK_DGRAM), PROTOCOL_MPTCP),
    NO_SUCH_SOCKET(IS(0, AF_INET), IPPROTO_ICMPV6),
    NO_SUCH_SOCKET(IS(0, AF_INET6), IPPROTO_ICMP),
    INTERNET_PROTOCOL(0),
    INTERNET_PROTOCOL(IPPROTO_TCP),
    INTERNET_PROTOCOL(IPPROTO_UDP),
    INTERNET_PROTOCOL(IPPROTO_ICMP),
    INTERNET_PROTOCOL(IPPROTO_ICMPV6),
    INTERNET_PROTOCOL(PROTOCOL_MPTCP),
    FAIL_IF("socket", EPROTONOSUPPORT, "protocols that load modules", INTERNET),
    PASS_IF2("socket", "lists interfaces and addresses", IS(0, AF_NETLINK),
	     IS(2, NETLINK_ROUTE)),
    FAIL_IF("socket", EPROTONOSUPPORT, "firewall, audit, crypto and other channels",
	    IS(0, AF_NETLINK)),
    FAIL("socket", EAFNOSUPPORT, "vsock reaches the host; the rest load modules"),
    FAIL("socketcall", ENOSYS, "arguments lie in memory; socket and others are free"),
    PASS_IF("socketpair", "local sockets", IS(0, AF_UNIX)),
    FAIL("socketpair", EAFNOSUPPORT, "pairs of any other kind load modules"),
    FAIL("stime", EPERM, "the host's clock; date and test suites try it"),
    KILL("swapoff", "the host's swap"),
    KILL("swapon", "the host's swap"),
    FAIL("sysfs", ENOSYS, "lists file systems; obsolete"),
    FAIL("syslog", EPERM, "the kernel's log"),
    KILL("umount", "mounts"),
    KILL("umount2", "mounts"),
    KILL("unshare", "makes namespaces"),
    FAIL("uselib", ENOSYS, "loads libraries of a.out times"),
    FAIL("userfaultfd", ENOSYS, "holds the kernel in the middle of a copy"),
    FAIL("ustat", ENOSYS, "file systems by device number; obsolete"),
    FAIL("vhangup", EPERM, "takes terminals away; needs a capability"),
    FAIL("vm86", ENOSYS, "16-bit programs"),
    FAIL("vm86old", ENOSYS, "16-bit programs"),
};

const struct seccomp_table seccomp_denylist = {rows, sizeof(rows) / sizeof(rows[0])};

const struct seccomp_policy seccomp_policy_default = {
    .name = "default",
    .verdict = SECCOMP_ALLOW,
    .tables = {&seccomp_denylist},
};
