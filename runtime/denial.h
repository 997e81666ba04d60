/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a traced box was refused, by which layer, and what would loosen exactly that. Init
 * noted the facts (runtime/wire.h); the words are a pure function of them, of the box's
 * settings and of its counters.
 */
#ifndef RUNTIME_DENIAL_H
#define RUNTIME_DENIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct box_outcome;
struct box_spec;
struct wire_denial;

enum { DENIAL_LOOSEN = 160, DENIAL_SUBJECT = 256 };

struct denial {
	const char *layer;	      /* static: "seccomp", "read-only", ... */
	char call[40];		      /* the system call, "" where it is about none */
	char subject[DENIAL_SUBJECT]; /* a path of the box, an address, numbers, or "" */
	char error[24];		      /* "EPERM", "killed", ... */
	uint64_t count;
	char loosen[DENIAL_LOOSEN]; /* options of the command, or "": nothing does */
};

struct denial_list {
	struct denial *rows; /* heap */
	size_t count;
	bool known; /* the box was traced */
	bool lost;  /* there were more kinds than there was room for */
};

/* One row in words. False where the failure is not the box's doing. */
bool denial_explain(const struct box_spec *spec, const struct wire_denial *row,
		    struct denial *ret);

/* All of them: rows of the block behind fd at offset, and what the counters of the
 * outcome say. 0 or -errno. */
int denial_list_read(struct denial_list *list, int fd, uint32_t offset,
		     const struct box_spec *spec, const struct box_outcome *outcome);
void denial_list_deinit(struct denial_list *list);

/* -- denial_subject.c -- */

/* What the row was about, as text. name: the system call's. */
void denial_subject(const struct wire_denial *row, const char *name, char *text,
		    size_t capacity);

#endif
