/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library and the init program say to each other.
 *
 * The plan is one block in a memfd that init maps shared: a header, an array of
 * operations, and a pool of strings and bytes that both refer to by offset from the start
 * of the block, which ends in a NUL. runtime/wire_check.h says whether one is sound. The
 *library and the init program are built together and travel together (the one carries the
 *other), so the layout may change at any time; MAGIC catches a mix-up.
 *
 * Init writes back into the header's `progress` while it works, so that the library knows
 * how far the start came even where init was killed. The final report goes over the
 * channel, a SOCK_SEQPACKET pair that is close-on-exec on both sides. The workload never
 * holds the plan or the channel.
 *
 * What the box is (mounts, filter, ids, limits) and what one call wants of it (program,
 * variables, working directory, input, deadline) are two parts: struct wire_header and
 * struct wire_call. Usually both are in the plan. A box that is made ahead of its call
 * comes in one of two forms:
 *
 *	parked	the plan has no call, and behind its block the memfd has room for one.
 *		Init does all that needs none, up to the process that will execute the
 *		program, says WIRE_PARKED and waits. The library writes the call into the
 *		room, a second block of the same format; WIRE_GO says that it is there,
 *		and brings the reading end of a pipe where there is input.
 *	held	the plan has a call, an interpreter that starts, and then waits for its
 *		source on a socket of its own (descriptor 3); init never sees the source.
 *		WIRE_GO brings the deadline.
 *
 * Nothing in these messages depends on which process of the owner sends them: the box is
 * whoever's holds the channel, the streams' other ends and the plan.
 */
#ifndef RUNTIME_WIRE_H
#define RUNTIME_WIRE_H

#include <stdint.h>

enum {
	WIRE_MAGIC = 0x6b737568, /* "husk" */
	WIRE_SLOTS = 512,	 /* mount trees that one plan can hold open */
	WIRE_JOIN_MAX = 4,	 /* control group files to join */
	WIRE_RLIMITS = 16,
	WIRE_OPS_MAX = 2048,
};

/* Operations on mounts, walked in order. Paths in the box are relative to the new root
 * and begin without a slash. Until the new root is entered, it is the carrier. */
enum wire_kind {
	/* slot <- clone of the host tree at a. Checked against dev (x) and ino (y). */
	WIRE_TREE_OPEN = 1,
	/* slot <- the tree of a that the library made; the descriptor is y. */
	WIRE_TREE_GIVEN,
	/* Make the tree in slot private and add attributes x (MOUNT_ATTR_*), recursively.
	 */
	WIRE_TREE_ATTR,
	/* Attach slot at a, a path of ours: links are impossible there. */
	WIRE_MOUNT,
	/* Attach slot at a, a path that others may have shaped. */
	WIRE_MOUNT_USER,
	/* Make the tmpfs that carries the new root: size x, inodes y. */
	WIRE_CARRIER,
	/* Directory a of the carrier is the new root: paths are below it from here on. */
	WIRE_ENTER,
	WIRE_DIR,     /* directory a, mode x */
	WIRE_NODE,    /* empty file a, mode x: to mount on */
	WIRE_FILE,    /* file a, content b of length y, mode x */
	WIRE_SYMLINK, /* link a -> b */
	/* Bind b (absolute: of the host; else relative to the new root) on a, and add
	 * attributes x to it. */
	WIRE_BIND,
	/* Overlay with the options in b ("lowerdir=...") on directory a; only before the
	 * new root is entered. */
	WIRE_OVERLAY,
	/* New file system of type b on directory a; flags x as mount(2) takes them;
	 * options: the string at offset y, or 0. */
	WIRE_FS,
	/* Write the bounds of the box's user namespace through the new root's own /proc.
	 * In one that boxes share, each namespace has an entry of the same name: the
	 * more boxes there are, the longer is the search, under a lock of all. */
	WIRE_BOUNDS,
	/* Make all mounts of the new root private and add attributes x to them. */
	WIRE_RESTRICT,
};

/* wire_op.flags */
enum {
	WIRE_RECURSIVE = 1, /* the whole tree below */
	WIRE_CHECK_ID = 2,  /* compare device (x: major << 32 | minor) and inode (y) */
	WIRE_TOLERATE = 4,  /* a convenience: any failure is passed over */
};

struct wire_op {
	uint16_t kind; /* enum wire_kind */
	uint16_t step; /* enum step that a failure names */
	uint16_t flags;
	uint16_t slot;
	uint32_t a, b; /* string offsets, 0: none */
	uint64_t x, y;
};

struct wire_rlimit {
	uint32_t resource;
	uint32_t
	    raise; /* set the soft limit to the hard one; soft and hard are ignored */
	uint64_t soft, hard; /* both are lowered to the hard limit in force ... */
	uint64_t part;	     /* ... or, where this is not 0, to that divided by it */
};

/* What init makes of the operations (runtime/template.h). */
enum wire_part {
	WIRE_WHOLE = 0,	   /* the root of one box */
	WIRE_TEMPLATE = 1, /* a root to be copied: hand its namespaces over and end */
	WIRE_BOX = 2,	   /* "/" is a copy of a template's already */
};

/* How far the start came; written by init. */
struct wire_progress {
	uint32_t step;			 /* enum step now being done */
	uint32_t started;		 /* 1: the program is executed, or was */
	uint32_t denied;		 /* tasks killed for a denied system call */
	uint32_t denied_main;		 /* 1: the main process was one of them */
	uint32_t denied_nr, denied_arch; /* the first of these calls */
};

/* Where the time of a start goes: each step counts until the next one begins. Only where
 * a caller asks, since each look at the clock is a system call. */
enum { WIRE_STEPS = 64 };

struct wire_timing {
	uint32_t wanted;
	uint32_t step;	   /* enum step that counts now */
	uint64_t since_ns; /* monotonic clock */
	uint64_t ns[WIRE_STEPS];
	uint32_t times[WIRE_STEPS];
};

/* What a call decides. Offsets are those of the block that it lies in. */
struct wire_call {
	uint64_t deadline_us; /* monotonic clock: init ends the box then by itself */
	uint32_t argv,
	    argc; /* offset of an array of uint64_t that holds offsets, NULL-ended */
	uint32_t envp, envc;
	uint32_t search; /* PATH of the box, or 0: argv[0] is a path */
	uint32_t workdir;
};

/* What was refused while the box was traced; one row for each distinct kind. Written by
 * init behind the header, read by the library when the box has ended. */
enum {
	WIRE_DENIALS = 128,
	WIRE_DENIAL_TEXT = 224,
};

enum wire_denied_by {
	WIRE_BY_FILTER = 1, /* the filter answered */
	WIRE_BY_KERNEL,	    /* the call was made, and failed */
};

enum wire_denial_about {
	WIRE_ABOUT_NOTHING,
	WIRE_ABOUT_PATH,    /* text: a path of the box, not NUL-ended */
	WIRE_ABOUT_ADDRESS, /* text: a struct sockaddr */
};

struct wire_denial {
	uint32_t nr, arch;
	uint32_t answer;    /* WIRE_BY_FILTER: SECCOMP_RET_* */
	int32_t error;	    /* WIRE_BY_KERNEL: errno */
	uint16_t by, about; /* enum wire_denied_by, enum wire_denial_about */
	uint32_t text_size;
	uint64_t count;
	uint64_t args[6]; /* of the first of them */
	char text[WIRE_DENIAL_TEXT];
};

struct wire_denials {
	uint32_t count, capacity;
	uint64_t lost; /* refusals for which there was no room */
	struct wire_denial rows[];
};

struct wire_header {
	uint32_t magic;
	uint32_t size; /* of the whole block */
	struct wire_progress progress;
	int32_t channel_fd, caller_fd; /* caller_fd: a pidfd of the calling process */
	int32_t stdin_fd, stdout_fd, stderr_fd; /* stdin_fd -1: the box's /dev/null */
	int32_t source_fd; /* held: the program gets it as descriptor 3; else -1 */
	uint32_t terminal; /* 1: a terminal of the box's own instead of the three */
	uint32_t rows, columns;
	uint32_t joins;	   /* 1: a struct wire_joins comes first on the channel */
	uint32_t foreign;  /* 1: take the ids below, which are not the caller's */
	uint32_t uid, gid; /* in the box */
	uint32_t loopback; /* 1: bring lo up */
	uint32_t killable; /* 1: give up the caller's protection from the OOM killer */
	uint32_t part;	   /* enum wire_part */
	uint32_t ops, op_count;
	uint32_t call; /* offset of a struct wire_call; 0: the box is to be parked */
	uint32_t room,
	    room_size; /* parked: where in the memfd the call's block will be */
	uint32_t hostname;
	uint32_t filter, filter_count,
	    filter_plain;	 /* sock_filter array; plain: without notify */
	uint32_t denials;	 /* struct wire_denials; 0: the box is not traced */
	uint32_t no_user_spaces; /* 1: no user namespaces below the box's own */
	uint64_t landlock_fs, landlock_scoped; /* what Landlock handles; 0: without it */
	uint32_t rlimit_count;
	struct wire_rlimit rlimits[WIRE_RLIMITS];
	struct wire_timing timing; /* written by init */
	/* Tests only: fail this step with this errno. */
	uint32_t inject_step, inject_errno;
};

/* The caller's first message where the plan says so. With it come, as descriptors, the
 * control group files to write to. (Not in the plan: the group is being made while the
 * kernel makes init's namespaces.) */
struct wire_joins {
	uint32_t count;
	uint32_t nproc; /* RLIMIT_NPROC for want of a cap on tasks; 0: none */
};

/* Messages on the channel, of init's. */
enum wire_message {
	WIRE_FAILED = 1,     /* a step failed; no program ran */
	WIRE_NO_PROGRAM = 2, /* the program was not found or cannot be executed */
	WIRE_ENDED = 3,	     /* the main process ended and everything else is dead */
	WIRE_LATE = 4,	     /* init's own deadline passed and it ended the box */
	WIRE_TERMINAL = 5,   /* comes with the descriptor of the terminal's master side */
	WIRE_NAMESPACES = 6, /* comes with a template's user and mount namespace */
	WIRE_PARKED = 7,     /* only the call is missing */
};

/* What the library asks of init; anything else on the channel, and its end, is WIRE_END.
 */
enum wire_order {
	WIRE_END = 1, /* end the box; what it used is reported */
	WIRE_GO = 2,  /* the call has begun */
	/* held: the interpreter waits. What it has used by now is not the call's, and
	 * there is no deadline until there is a call. */
	WIRE_HOLD = 3,
};

struct wire_request {
	uint32_t order;
	uint32_t input;	      /* WIRE_GO, parked: 1 where a pipe comes as well */
	uint64_t deadline_us; /* WIRE_GO, held */
};

struct wire_report {
	uint32_t message;      /* enum wire_message */
	uint32_t step;	       /* WIRE_FAILED: enum step */
	int32_t error;	       /* WIRE_FAILED, WIRE_NO_PROGRAM: errno */
	int32_t status;	       /* WIRE_ENDED: raw wait status of the main process */
	uint32_t filter_kills; /* 1: no listener, the filter kills by itself */
	uint32_t found;	       /* WIRE_NO_PROGRAM: 1 where the file is there */
	uint64_t cpu_us;       /* WIRE_ENDED, WIRE_LATE: used by all that init reaped */
	uint64_t largest_kib;  /* the same: resident size of the largest process */
	char subject[232]; /* WIRE_FAILED: what the step was about, NUL-ended, maybe empty
			    */
};

#endif
