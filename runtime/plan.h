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
#include "runtime/steps.h"
#include "runtime/wire.h"

struct plan {
	struct buffer block;  /* header and pool; after plan_finish the whole block */
	struct wire_op *ops;  /* heap */
	uint32_t op_count, op_capacity;
	uint16_t slot_count;
	int error;	      /* the first -errno, or 0 */
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

/* Operations. Paths have no leading slash. A slot stands for a mount tree. */
void plan_dir(struct plan *plan, const char *path, unsigned mode);
/* All directories on the way to path and, with last, path itself. */
void plan_dirs(struct plan *plan, const char *path, bool last);
void plan_file(struct plan *plan, const char *path, const char *content, size_t size,
	       unsigned mode);
void plan_symlink(struct plan *plan, const char *path, const char *target);
uint16_t plan_tree_open(struct plan *plan, const char *host_path, unsigned flags,
			uint64_t dev, uint64_t ino);
uint16_t plan_tree_given(struct plan *plan, const char *label, int fd);
uint16_t plan_tree_inner(struct plan *plan, const char *path, unsigned flags);
void plan_tree_attr(struct plan *plan, uint16_t slot, const char *label, uint64_t attributes,
		    bool recursive);
void plan_root(struct plan *plan, uint64_t size, uint64_t inodes);
void plan_enter(struct plan *plan, const char *path);
void plan_overlay(struct plan *plan, const char *path, const char *options);
void plan_fs(struct plan *plan, const char *path, const char *type, uint64_t flags,
	     const char *options, unsigned op_flags);
void plan_mount(struct plan *plan, uint16_t slot, const char *path, unsigned flags,
		uint16_t step);
void plan_mount_user(struct plan *plan, uint16_t slot, const char *path);
void plan_read_only(struct plan *plan);

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
