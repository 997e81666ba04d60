/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of a session. */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include <pthread.h>

#include <husk/session.h>

#include "runtime/box.h"
#include "session/diff.h"
#include "session/image_root.h"
#include "session/settings.h"
#include "session/shortage.h"
#include "session/workspace.h"

/* What killed processes may have left where temporary workspaces are made. */
enum leftovers {
	LEFTOVERS_NONE,
	LEFTOVERS_DUE,	 /* nobody has looked yet */
	LEFTOVERS_FOUND, /* there are some */
};

/* How far letting go of what a session holds has come. */
enum session_end {
	END_NOT,
	END_BEGUN, /* a thread is at it */
	END_DONE,
};

struct husk_session {
	pthread_mutex_t lock;
	pthread_cond_t idle;	  /* running became 0, or end END_DONE */
	unsigned running;	  /* calls under way; under lock */
	bool closing;		  /* no call may begin any more; under lock */
	enum session_end end;	  /* under lock */
	struct shortage shortage; /* under lock */
	int closing_fd;		  /* eventfd: stops all calls */
	struct workspace workspace;
	char *path;	    /* heap; the workspace's, also when that is gone */
	char *temp_dir;	    /* heap; as the options have it, or NULL */
	bool deps_readonly; /* spec.mounts[0] is the workspace's .deps, read-only */
	int deps_lock;	    /* .deps is a kept tree, held by this lock; else -1 */
	struct diff diff;
	struct settings settings;
	struct image_root root; /* what spec.image stands on */
	bool workdir_given;	/* the caller named a working directory */
	_Atomic enum leftovers leftovers;
	struct sample found; /* of whoever made leftovers what it is */
	struct box_spec spec;
	struct spares *spares; /* session/spares.h; NULL: none are kept */
};

/* Fill in the parts of spec that options decide: root, mounts, user, filter, caps.
 * The workspace must be open. */
int session_make_spec(const struct husk_options *options, struct husk_session *session,
		      struct husk_error *err);

/* Check the options as session_make_spec does, without a workspace: one that is given is
 * looked at where it exists. spec is to be released with box_spec_deinit. */
int session_check_spec(const struct husk_options *options, struct box_spec *spec,
		       struct husk_error *err);

/* leftovers.c: look for leftovers where that is due. Done while a box starts. */
void session_look_for_leftovers(void *session);
/* Remove what was found; where nobody has looked yet, look first. */
void session_remove_leftovers(struct husk_session *session);

/* Between these two a session is not closed. HUSK_E_CLOSED. */
int session_enter(struct husk_session *session, struct husk_error *err);
void session_leave(struct husk_session *session);

#endif
