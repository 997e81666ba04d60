/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of a husk_host: a view of the host is gathered by trying and reading, and then
 * judged, row by row, by functions that look at nothing but the view.
 */
#ifndef SESSION_HOST_H
#define SESSION_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include <husk/host.h>

#include "cgroup/cgroup.h"
#include "oci/health.h"
#include "runtime/probe.h"

enum { HOST_FINDING = 640, HOST_REMEDY = 2048 };

enum host_limit { HOST_LIMIT_MEMORY, HOST_LIMIT_CPUS, HOST_LIMIT_PIDS };

/* What became of one whole box. */
struct host_box {
	bool ran;
	char reason[HOST_FINDING]; /* where not */
	char remedy[HOST_FINDING]; /* or "" */
};

struct host_systemd {
	bool running; /* it is the system's first process */
	bool manager; /* the caller's manager takes connections: root's is the system's */
};

struct host_library {
	bool found;
	char why[HOST_FINDING]; /* where not */
	char remedy[HOST_FINDING];
};

struct host_store {
	struct health_store at;
	struct probe_answer idmap; /* of at.base; see PROBE_IDMAP */
};

struct host_view {
	struct probe_facts facts;
	struct probe_answers answers;
	bool has_limits; /* limits is filled in */
	struct cgroup_host limits;
	struct host_systemd systemd;
	struct host_box box;
	bool skip_images; /* what follows is not filled in */
	struct host_library libraries[HEALTH_LIBRARIES];
	struct host_store store;
};

struct host_row {
	const char *name; /* static */
	int state;	  /* enum husk_probe */
	char finding[HOST_FINDING];
	char remedy[HOST_REMEDY]; /* lines */
};

struct husk_host {
	size_t count;
	bool usable;
	const char *level; /* static */
	char summary[HOST_REMEDY];
	struct host_row rows[];
};

/* A row's judgement, in one line: state and what was found. */
void host_find(struct host_row *row, int state, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Add a line to the remedy; NULL and "" add none, nor does a line that is there. */
void host_advise(struct host_row *row, const char *line);

/* Judge the view. NULL on lack of memory. */
struct husk_host *host_judge(const struct host_view *view);

/* -- judges of rows; `which` tells several rows of one judge apart -- */
typedef void (*host_judge_fn)(const struct host_view *view, int which,
			      struct host_row *row);

void host_judge_tried(const struct host_view *view, int which, struct host_row *row);
void host_judge_kernel(const struct host_view *view, int which, struct host_row *row);
void host_judge_idmap(const struct host_view *view, int which, struct host_row *row);
void host_judge_init(const struct host_view *view, int which, struct host_row *row);
void host_judge_landlock(const struct host_view *view, int which, struct host_row *row);
void host_judge_limit(const struct host_view *view, int which, struct host_row *row);
void host_judge_cgroup(const struct host_view *view, int which, struct host_row *row);
void host_judge_systemd(const struct host_view *view, int which, struct host_row *row);
void host_judge_apparmor(const struct host_view *view, int which, struct host_row *row);
void host_judge_selinux(const struct host_view *view, int which, struct host_row *row);
void host_judge_yama(const struct host_view *view, int which, struct host_row *row);
void host_judge_container(const struct host_view *view, int which, struct host_row *row);
void host_judge_library(const struct host_view *view, int which, struct host_row *row);
void host_judge_store(const struct host_view *view, int which, struct host_row *row);
void host_judge_box(const struct host_view *view, int which, struct host_row *row);

/* After all rows: level and summary. */
void host_judge_level(const struct host_view *view, struct husk_host *host);

/* The name of a file system by its number in statfs(2). */
const char *host_file_system(uint64_t magic);

/* The name of the row that shows a probe. */
const char *host_probe_name(enum probe probe);

/* -- gathering -- */
/* HUSK_E_MEMORY. */
int host_gather(const struct husk_host_options *options, struct host_view *ret,
		struct husk_error *err);
void host_gather_libraries(struct host_library ret[HEALTH_LIBRARIES]);
/* HUSK_E_MEMORY. */
int host_gather_store(const char *path, const struct probe_answers *answers,
		      struct host_store *ret, struct husk_error *err);
void host_gather_systemd(unsigned uid, struct host_systemd *ret);
/* Open a session, run `true` in a box, close. The box is given caps where that changes
 * nothing for the calling process. */
void host_gather_box(const struct cgroup_host *limits, struct host_box *ret);

#endif
