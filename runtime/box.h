/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime's one door: what a box is made of, one run of it, and the facts that came
 * out. The runtime knows no images beyond two kinds of root: a view of the host's own
 * programs, and a directory.
 */
#ifndef RUNTIME_BOX_H
#define RUNTIME_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cgroup/cgroup.h"
#include "runtime/denial.h"
#include "runtime/ids.h"
#include "runtime/landlock.h"
#include "runtime/source.h"
#include "runtime/steps.h"
#include "seccomp/seccomp.h"

enum box_root {
	BOX_ROOT_HOST, /* the host's own programs and libraries, /etc made up */
	BOX_ROOT_DIR,  /* a directory that holds a root file system */
};

struct host_views;
struct box_template;
struct box_timing;

struct box_mount {
	struct source source;
	char *target; /* heap; relative to the root, normalised */
	bool writable;
	bool plain; /* never id-mapped: it belongs to the box's id, or is only read */
};

/* A user namespace that shows files of one owner as the box's own, for id-mapped mounts.
 */
struct box_mapping {
	uint32_t uid, gid;
	int fd;
};

/* What every box of a session has in common. Made by the session, read by many threads.
 */
struct box_spec {
	enum box_root root;
	struct source image; /* BOX_ROOT_DIR; no descriptor: an empty one */
	struct source workspace;
	bool workspace_idmapped; /* the workspace belongs to the caller, not to the box's
				    id */
	struct box_mount *mounts;
	size_t mount_count;
	uint32_t uid, gid; /* in the box */
	bool host_network;
	bool writable_root;
	bool no_user_spaces; /* none below the box's own, whatever the filter says */
	uint64_t tmp_bytes;
	struct seccomp_program filter; /* denied calls are notified */
	struct seccomp_program plain;  /* the same, killing by itself */
	struct cgroup_caps caps;
	bool enforce;
	struct landlock landlock; /* set by box_spec_prepare */
	/* Held while the session lives: */
	struct ids ids;
	bool oom_protected; /* the caller's oom_score_adj is negative */
	int init_fd;	    /* the init program, sealed */
	int caller_fd;	    /* pidfd of this process */
	pid_t caller_pid;
	int proc_fd;		       /* the host's /proc */
	struct host_views *views;      /* runtime/layout.h */
	struct box_template *template; /* runtime/template.h; has a lock of its own */
	struct box_mapping *mappings;  /* heap */
	size_t mapping_count;
};

/* What box_spec_deinit may be given, prepared or not: every descriptor that it closes is
 * none. */
#define BOX_SPEC_INIT                                                          \
	(struct box_spec)                                                      \
	{                                                                      \
		.image = SOURCE_INIT, .workspace = SOURCE_INIT, .init_fd = -1, \
		.caller_fd = -1, .proc_fd = -1                                 \
	}

/* Make what is held while the session lives (the last members of box_spec); everything
 * above them must be set. HUSK_E_SYSTEM, HUSK_E_MEMORY. */
int box_spec_prepare(struct box_spec *spec, struct husk_error *err);
/* The namespace for files of source's owner; one that was made by box_spec_prepare. */
int box_spec_mapping(const struct box_spec *spec, const struct source *source);
/* The mounts are others now: what was made of the former ones is not used any more. No
 * box may be being made meanwhile. */
void box_spec_changed(const struct box_spec *spec);
/* Release everything that spec owns. */
void box_spec_deinit(struct box_spec *spec);

/* Where a call's code lies in the box: /dev is always ours, whatever the image holds. */
#define BOX_CODE_DIR  "/dev/husk"
#define BOX_CODE_NAME "code"
#define BOX_CODE_PATH BOX_CODE_DIR "/" BOX_CODE_NAME

/* A new size of the terminal, as it comes over resize_fd: one write(2) each. */
struct box_size {
	uint16_t rows, columns;
};

enum box_stdin { BOX_STDIN_EMPTY, BOX_STDIN_DATA, BOX_STDIN_FD };

/* One run. Strings and data are borrowed for the time of the call. */
struct box_call {
	const char *const *argv; /* NULL-terminated, at least one */
	const char *const *envp; /* NULL-terminated */
	const char *search;	 /* PATH for argv[0] where it has no slash */
	const char *workdir;
	uint64_t timeout_us;
	uint64_t max_output;
	enum box_stdin stdin_kind;
	const void *stdin_data;
	size_t stdin_size;
	int stdin_fd;
	const void *code; /* put into BOX_CODE_DIR; NULL: nothing */
	size_t code_size;
	const char *code_name; /* its name there; NULL: BOX_CODE_NAME */
	int cancel_fd;	       /* readable: stop; -1: none */
	int cancel_fd2;	       /* a second one, of the session; -1: none */
	bool discard;	       /* capture nothing */
	bool explain_denials;  /* trace the box, and list what it was refused */
	/* A terminal of the box's own instead of the three streams: what it shows is
	 * stream 1, and what is read as input is typed. */
	bool terminal;
	uint16_t rows, columns;
	int resize_fd; /* struct box_size values come here; -1: none */
	int (*on_output)(void *user, int stream, const void *data, size_t size);
	/* Called when a signal interrupts the wait, and now and then; not 0: stop. */
	int (*on_wait)(void *user);
	void *user; /* of both */
	/* Called once while the kernel makes the box's namespaces, for what is short and
	 * needs no box; or NULL. */
	void (*meanwhile)(void *user);
	void *meanwhile_user;
	bool timing;			    /* find out where the time goes */
	uint32_t inject_step, inject_errno; /* tests only */
};

enum box_end {
	BOX_ENDED,	 /* the main process ended by itself */
	BOX_NOT_STARTED, /* a step failed */
	BOX_NO_PROGRAM,	 /* the program was not found or cannot be executed */
	BOX_TIMED_OUT,
	BOX_CANCELLED,
	BOX_LOST, /* init died without a report: something killed it */
};

/* The facts, from the kernel and from init alone. */
struct box_outcome {
	enum box_end end;
	int status;	   /* BOX_ENDED: raw wait status */
	bool started;	   /* a program was executed */
	uint32_t step;	   /* BOX_NOT_STARTED: enum step */
	int error;	   /* BOX_NOT_STARTED, BOX_NO_PROGRAM: errno */
	bool found;	   /* BOX_NO_PROGRAM: the file is there */
	char subject[256]; /* BOX_NOT_STARTED: what the step was about */
	char reason[512];  /* BOX_NOT_STARTED: the whole sentence */
	char hint[512];	   /* BOX_NOT_STARTED: the remedy, or "" */
	uint32_t denied;   /* tasks killed for a denied system call */
	bool denied_main;
	bool filter_kills;	/* no notifications here: the filter kills by itself */
	char denied_call[64];	/* its name */
	struct buffer out, err; /* captured */
	bool truncated;
	uint64_t wall_us;
	struct rusage rusage;	   /* of everything in the box */
	struct box_timing *timing; /* runtime/timing.h; heap; NULL: not asked for */
	bool has_cgroup;
	struct cgroup_counters counters;
	enum cgroup_hold memory, cpus, pids;
	struct denial_list denials; /* where the call asked for it */
};

/* Empty, with room for what the call may capture. */
void box_outcome_init(struct box_outcome *outcome, const struct box_call *call);
void box_outcome_deinit(struct box_outcome *outcome);

/* Where the time went, as a table for people, appended to out. 0 or -ENOMEM. */
int box_timing_text(const struct box_timing *timing, struct buffer *out);

/* Run one box and wait for its end. Returns 0 whenever there is an outcome, also when the
 * box could not be started; HUSK_E_MEMORY or HUSK_E_INVALID otherwise. Any thread. */
int box_run(const struct box_spec *spec, const struct box_call *call,
	    struct box_outcome *ret, struct husk_error *err);

/* The plan of a run as text, appended to out. Starts nothing. */
int box_explain(const struct box_spec *spec, const struct box_call *call,
		struct buffer *out, struct husk_error *err);

#endif
