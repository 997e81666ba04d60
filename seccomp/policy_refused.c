/* SPDX-License-Identifier: Apache-2.0 */
/* What the allowlist leaves out and the denylist lets be, each call with its reason. With
 * these rows the strict policy names every call that was reviewed: a call of neither
 * table is one that no one has decided about, and a test says so.
 *
 * ENOSYS where programs know how to do without, as on a kernel that has no such call;
 * EPERM where they take that better, because it is what an ordinary user may see. */
#include "seccomp/policy_row.h"

#include <errno.h>

#define EMPTY(call)   FAIL(call, ENOSYS, "a number with no call behind it")
#define OLD_AIO(call) FAIL(call, ENOSYS, "asynchronous files, of no use without io_setup")
#define LABELS(call)  FAIL(call, ENOSYS, "labels of security modules; systemd asks")

static const struct seccomp_row rows[] = {
    FAIL("adjtimex", EPERM, "reads the clock's discipline and sets it"),
    EMPTY("afs_syscall"),
    FAIL("bdflush", ENOSYS, "steers the host's write-back; gone since 5.15"),
    EMPTY("break"),
    FAIL("cachestat", ENOSYS, "tells which of the host's files are in memory"),
    FAIL("clock_adjtime", EPERM, "reads the clock's discipline and sets it"),
    FAIL("clock_adjtime64", EPERM, "reads the clock's discipline and sets it"),
    FAIL("create_module", ENOSYS, "kernel modules before 2.6"),
    EMPTY("epoll_ctl_old"),
    EMPTY("epoll_wait_old"),
    FAIL("fanotify_mark", EPERM, "watches of whole mounts; as fanotify_init"),
    EMPTY("ftime"),
    FAIL("get_kernel_syms", ENOSYS, "kernel modules before 2.6"),
    EMPTY("getpmsg"),
    EMPTY("gtty"),
    EMPTY("idle"),
    OLD_AIO("io_cancel"),
    OLD_AIO("io_destroy"),
    OLD_AIO("io_getevents"),
    OLD_AIO("io_pgetevents"),
    OLD_AIO("io_pgetevents_time64"),
    OLD_AIO("io_submit"),
    FAIL("listmount", ENOSYS, "the mount table is in /proc; programs read it there"),
    EMPTY("lock"),
    LABELS("lsm_get_self_attr"),
    LABELS("lsm_list_modules"),
    LABELS("lsm_set_self_attr"),
    EMPTY("mpx"),
    FAIL("name_to_handle_at", ENOSYS, "half of what open_by_handle_at needs"),
#if defined(__aarch64__)
    FAIL("pciconfig_iobase", ENOSYS, "the registers of devices"),
    FAIL("pciconfig_read", ENOSYS, "the registers of devices"),
    FAIL("pciconfig_write", ENOSYS, "the registers of devices"),
#endif
    FAIL("process_madvise", ENOSYS, "memory of other processes; allocators do without"),
    FAIL("process_mrelease", ENOSYS, "memory of other processes; for killers by memory"),
    EMPTY("prof"),
    EMPTY("profil"),
    FAIL("ptrace", EPERM, "debuggers want the default policy"),
    EMPTY("putpmsg"),
    FAIL("query_module", ENOSYS, "kernel modules before 2.6"),
    FAIL("remap_file_pages", ENOSYS, "emulated by mmap since 4.0; nobody calls it"),
    EMPTY("security"),
    FAIL("statmount", ENOSYS, "the mount table is in /proc; programs read it there"),
    EMPTY("stty"),
    EMPTY("tuxcall"),
    EMPTY("ulimit"),
    FAIL("vmsplice", ENOSYS, "lends pages to pipes, a line of holes; programs write"),
    EMPTY("vserver"),
};

const struct seccomp_table seccomp_refused = {rows, sizeof(rows) / sizeof(rows[0])};
