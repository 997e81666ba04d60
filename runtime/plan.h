/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of one box, under construction: a wire block (runtime/wire.h) that grows.
 *
 * The functions that add to it do not fail one by one: the first failure sticks and
 * plan_finish reports it.
 */
#ifndef RUNTIME_PLAN_H
#define RUNTIME_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "runtime/box.h"
#include "runtime/steps.h"
#include "runtime/wire.h"

enum { PLAN_DIRS = 128 };

struct plan {
	struct buffer block; /* header and pool; after plan_finish the whole block */
	struct wire_op *ops; /* heap */
	uint32_t op_count, op_capacity;
	uint16_t slot_count;
	uint32_t dirs[PLAN_DIRS]; /* offsets of the directories that are planned */
	uint32_t dir_count;
	int error; /* the first -errno, or 0 */
};

int plan_init(struct plan *plan, struct husk_error *err);
void plan_deinit(struct plan *plan);
#define CLEANUP_PLAN __attribute__((cleanup(plan_deinit)))

/* The header, valid until the next addition. */
struct wire_header *plan_header(struct plan *plan);

/* Put a string or bytes into the pool; returns the offset. */
uint32_t plan_string(struct plan *plan, const char *text);
uint32_t plan_bytes(struct plan *plan, const void *data, size_t size);
/* The same at a multiple of 8, for arrays of numbers. */
uint32_t plan_array(struct plan *plan, const void *data, size_t size);

/* Operations (runtime/wire.h says what each does). Paths have no leading slash. A slot
 * stands for a mount tree. */
void plan_dir(struct plan *plan, const char *path, unsigned mode);
/* All directories on the way to path and, with last, path itself. Asked for twice, a
 * directory is made once. */
void plan_dirs(struct plan *plan, const char *path, bool last);
void plan_node(struct plan *plan, const char *path, unsigned mode);
void plan_file(struct plan *plan, const char *path, const char *content, size_t size,
	       unsigned mode);
void plan_symlink(struct plan *plan, const char *path, const char *target);
uint16_t plan_tree_open(struct plan *plan, const char *host_path, uint64_t dev,
			uint64_t ino);
uint16_t plan_tree_given(struct plan *plan, const char *label, int fd);
void plan_tree_attr(struct plan *plan, uint16_t slot, const char *label,
		    uint64_t attributes);
void plan_mount(struct plan *plan, uint16_t slot, const char *path);
void plan_mount_user(struct plan *plan, uint16_t slot, const char *path);
void plan_carrier(struct plan *plan, uint64_t size, uint64_t inodes);
void plan_enter(struct plan *plan, const char *path);
void plan_bind(struct plan *plan, const char *source, const char *path,
	       uint64_t attributes, uint16_t step);
void plan_overlay(struct plan *plan, const char *path, const char *options);
void plan_fs(struct plan *plan, const char *path, const char *type, uint64_t flags,
	     const char *options, unsigned op_flags);
/* The bounds of the box's user namespace; /proc is there and may be written to. */
void plan_bounds(struct plan *plan);
void plan_restrict(struct plan *plan, uint64_t attributes);

/* The call's part, which comes last. workdir and what call->argv and envp hold is copied;
 * deadline_us is a time of the monotonic clock. */
void plan_call(struct plan *plan, const struct box_call *call, uint64_t deadline_us);

/* Hand a NULL-terminated list over; returns the offset of the array and its length. */
uint32_t plan_list(struct plan *plan, const char *const *list, uint32_t *ret_count);

/* Close the block. HUSK_E_MEMORY, or HUSK_E_INVALID where a bound was passed. */
int plan_finish(struct plan *plan, struct husk_error *err);

/* The finished plan as text for a person; appended to out. 0 or -errno. */
int plan_describe(const struct wire_header *header, struct buffer *out);

/* Name and words of a step (runtime/steps.h). */
const char *step_name(uint32_t step);
const char *step_words(uint32_t step);

#endif
