/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every step of starting a box, in the order in which they happen. A start that fails
 * names one of these, and each of them is made to fail once in the tests. The name is
 * what fault detail shows; the words complete the sentence "cannot ...".
 *
 * Included by the library and by the init program.
 */
#ifndef RUNTIME_STEPS_H
#define RUNTIME_STEPS_H

/* clang-format off */
#define STEP_TABLE(ROW)                                                                        \
	/* in the calling process */                                                           \
	ROW(CGROUP,       "cgroup",       "make the box's control group")                      \
	ROW(SOURCE,       "source",       "prepare a mount source")                            \
	ROW(INIT_IMAGE,   "init-image",   "prepare the init program")                          \
	ROW(PIPES,        "pipes",        "make the pipes and the channel")                    \
	ROW(PLAN,         "plan",         "hand over the plan")                                \
	ROW(TEMPLATE,     "template",     "enter the prepared mounts")                         \
	ROW(CLONE,        "clone",        "create the namespaces")                             \
	ROW(ID_MAP,       "id-map",       "write the id maps")                                 \
	/* in the child, before the init program */                                            \
	ROW(EXEC_INIT,    "exec-init",    "execute the init program")                          \
	/* in the init program */                                                              \
	ROW(READ_PLAN,    "read-plan",    "read the plan")                                     \
	ROW(SET_IDS,      "set-ids",      "take the mapped ids")                               \
	ROW(WATCH_CALLER, "watch-caller", "watch the calling process")                         \
	ROW(JOIN_CGROUP,  "join-cgroup",  "enter the control group")                           \
	ROW(CGROUP_NS,    "cgroup-ns",    "enter a cgroup namespace")                          \
	ROW(USER_SPACES,  "user-spaces",  "forbid user namespaces in the box")                 \
	ROW(OPEN_TREE,    "open-tree",    "clone the mount tree of")                           \
	ROW(TREE_ATTR,    "tree-attr",    "restrict the mount tree of")                        \
	ROW(NEW_ROOT,     "new-root",     "make the new root")                                 \
	ROW(MAKE_NODE,    "make-node",    "make the mount point")                              \
	ROW(OVERLAY,      "overlay",      "mount the overlay root")                            \
	ROW(MOUNT_FS,     "mount-fs",     "mount a new file system on")                        \
	ROW(MOUNT_TREE,   "mount-tree",   "mount on")                                          \
	ROW(MASK,         "mask",         "mask")                                              \
	ROW(PIVOT,        "pivot-root",   "change to the new root")                            \
	ROW(DETACH,       "detach",       "detach the host's mounts")                          \
	ROW(HOSTNAME,     "hostname",     "set the host name")                                 \
	ROW(LOOPBACK,     "loopback",     "bring the loopback interface up")                   \
	ROW(RLIMITS,      "rlimits",      "set resource limits")                               \
	ROW(LANDLOCK,     "landlock",     "confine the box to its root with Landlock")           \
	ROW(CAPABILITIES, "capabilities", "give up capabilities")                              \
	ROW(NO_NEW_PRIVS, "no-new-privs", "set no_new_privs")                                  \
	ROW(UNDUMPABLE,   "undumpable",   "make the init program undumpable")                  \
	ROW(TERMINAL,     "terminal",     "make the terminal")                                 \
	ROW(STDIO,        "stdio",        "place the standard streams")                        \
	ROW(WORKDIR,      "workdir",      "enter the working directory")                       \
	ROW(FORK,         "fork",         "create the workload")                               \
	ROW(TRACER,       "tracer",       "trace the program")                                 \
	ROW(GUARD,        "guard",        "filter the init program's own system calls")        \
	ROW(SECCOMP,      "seccomp",      "install the system call filter")                    \
	ROW(EXEC,         "exec",         "execute the program")
/* clang-format on */

enum step {
	STEP_NONE = 0,
#define ROW(id, name, words) STEP_##id,
	STEP_TABLE(ROW)
#undef ROW
	    STEP_COUNT
};

#endif
