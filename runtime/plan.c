/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	BLOCK_MAX = 320 << 20, /* the largest code that a session takes, and the rest */
	PATH_MAX_TEXT = 4096,
};

int plan_init(struct plan *plan, struct husk_error *err)
{
	struct wire_header header = {.magic = WIRE_MAGIC};

	memset(plan, 0, sizeof(*plan));
	plan->block = BUFFER_INIT(BLOCK_MAX);
	/* One growth instead of many: a usual plan fits. */
	if (!buffer_reserve(&plan->block, 32768) ||
	    buffer_add(&plan->block, &header, sizeof(header)) < 0)
		return error_oom(err, "plan");
	return 0;
}

void plan_deinit(struct plan *plan)
{
	buffer_deinit(&plan->block);
	free(plan->ops);
	plan->ops = NULL;
}

struct wire_header *plan_header(struct plan *plan)
{
	return (struct wire_header *)(void *)plan->block.data;
}

static void keep_error(struct plan *plan, int error)
{
	if (plan->error == 0)
		plan->error = error;
}

uint32_t plan_bytes(struct plan *plan, const void *data, size_t size)
{
	size_t offset = plan->block.size;
	int r = buffer_add(&plan->block, data, size);

	if (r < 0)
		keep_error(plan, r);
	return (uint32_t)offset;
}

uint32_t plan_string(struct plan *plan, const char *text)
{
	return plan_bytes(plan, text, strlen(text) + 1);
}

uint32_t plan_array(struct plan *plan, const void *data, size_t size)
{
	static const char zeros[8];

	(void)plan_bytes(plan, zeros, (8 - plan->block.size % 8) % 8);
	return plan_bytes(plan, data, size);
}

static void add(struct plan *plan, struct wire_op op)
{
	if (plan->op_count == WIRE_OPS_MAX) {
		keep_error(plan, -E2BIG);
		return;
	}
	if (plan->op_count == plan->op_capacity) {
		uint32_t capacity = plan->op_capacity ? plan->op_capacity * 2 : 128;
		struct wire_op *ops = realloc(plan->ops, capacity * sizeof(*ops));

		if (!ops) {
			keep_error(plan, -ENOMEM);
			return;
		}
		plan->ops = ops;
		plan->op_capacity = capacity;
	}
	plan->ops[plan->op_count++] = op;
}

static uint16_t new_slot(struct plan *plan)
{
	if (plan->slot_count == WIRE_SLOTS) {
		keep_error(plan, -E2BIG);
		return 0;
	}
	return plan->slot_count++;
}

/* Most directories are parents of several things; each is made once. Past the table's end
 * one may be planned twice, which is harmless. */
static bool is_planned(struct plan *plan, const char *path)
{
	for (uint32_t i = 0; i < plan->dir_count; i++) {
		if (strcmp(plan->block.data + plan->dirs[i], path) == 0)
			return true;
	}
	return false;
}

void plan_dir(struct plan *plan, const char *path, unsigned mode)
{
	uint32_t offset;

	if (is_planned(plan, path))
		return;
	offset = plan_string(plan, path);
	if (plan->error == 0 && plan->dir_count < PLAN_DIRS)
		plan->dirs[plan->dir_count++] = offset;
	add(plan, (struct wire_op){
		      .kind = WIRE_DIR, .step = STEP_MAKE_NODE, .a = offset, .x = mode});
}

void plan_dirs(struct plan *plan, const char *path, bool last)
{
	char part[PATH_MAX_TEXT];
	size_t size = strlen(path);

	if (size >= sizeof(part)) {
		keep_error(plan, -ENAMETOOLONG);
		return;
	}
	for (size_t i = 1; i < size; i++) {
		if (path[i] != '/')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		plan_dir(plan, part, 0755);
	}
	if (last)
		plan_dir(plan, path, 0755);
}

void plan_node(struct plan *plan, const char *path, unsigned mode)
{
	add(plan, (struct wire_op){.kind = WIRE_NODE,
				   .step = STEP_MAKE_NODE,
				   .a = plan_string(plan, path),
				   .x = mode});
}

void plan_file(struct plan *plan, const char *path, const char *content, size_t size,
	       unsigned mode)
{
	add(plan, (struct wire_op){.kind = WIRE_FILE,
				   .step = STEP_MAKE_NODE,
				   .a = plan_string(plan, path),
				   .b = plan_bytes(plan, content, size),
				   .x = mode,
				   .y = size});
}

void plan_symlink(struct plan *plan, const char *path, const char *target)
{
	add(plan, (struct wire_op){.kind = WIRE_SYMLINK,
				   .step = STEP_MAKE_NODE,
				   .a = plan_string(plan, path),
				   .b = plan_string(plan, target)});
}

uint16_t plan_tree_open(struct plan *plan, const char *host_path, uint64_t dev,
			uint64_t ino)
{
	uint16_t slot = new_slot(plan);

	add(plan, (struct wire_op){.kind = WIRE_TREE_OPEN,
				   .step = STEP_OPEN_TREE,
				   .flags = WIRE_RECURSIVE | WIRE_CHECK_ID,
				   .slot = slot,
				   .a = plan_string(plan, host_path),
				   .x = dev,
				   .y = ino});
	return slot;
}

uint16_t plan_tree_given(struct plan *plan, const char *label, int fd)
{
	uint16_t slot = new_slot(plan);

	add(plan, (struct wire_op){.kind = WIRE_TREE_GIVEN,
				   .step = STEP_OPEN_TREE,
				   .slot = slot,
				   .a = plan_string(plan, label),
				   .y = (uint64_t)fd});
	return slot;
}

void plan_tree_attr(struct plan *plan, uint16_t slot, const char *label,
		    uint64_t attributes)
{
	add(plan, (struct wire_op){.kind = WIRE_TREE_ATTR,
				   .step = STEP_TREE_ATTR,
				   .slot = slot,
				   .a = plan_string(plan, label),
				   .x = attributes});
}

void plan_mount(struct plan *plan, uint16_t slot, const char *path)
{
	add(plan, (struct wire_op){.kind = WIRE_MOUNT,
				   .step = STEP_MOUNT_TREE,
				   .slot = slot,
				   .a = plan_string(plan, path)});
}

void plan_mount_user(struct plan *plan, uint16_t slot, const char *path)
{
	add(plan, (struct wire_op){.kind = WIRE_MOUNT_USER,
				   .step = STEP_MOUNT_TREE,
				   .slot = slot,
				   .a = plan_string(plan, path)});
}

void plan_carrier(struct plan *plan, uint64_t size, uint64_t inodes)
{
	add(plan,
	    (struct wire_op){
		.kind = WIRE_CARRIER, .step = STEP_NEW_ROOT, .x = size, .y = inodes});
}

void plan_enter(struct plan *plan, const char *path)
{
	plan->dir_count = 0; /* paths have another meaning from here on */
	add(plan, (struct wire_op){.kind = WIRE_ENTER,
				   .step = STEP_NEW_ROOT,
				   .a = plan_string(plan, path)});
}

void plan_bind(struct plan *plan, const char *source, const char *path,
	       uint64_t attributes, uint16_t step)
{
	add(plan, (struct wire_op){.kind = WIRE_BIND,
				   .step = step,
				   .flags = WIRE_RECURSIVE,
				   .a = plan_string(plan, path),
				   .b = plan_string(plan, source),
				   .x = attributes});
}

void plan_overlay(struct plan *plan, const char *path, const char *options)
{
	add(plan, (struct wire_op){.kind = WIRE_OVERLAY,
				   .step = STEP_OVERLAY,
				   .a = plan_string(plan, path),
				   .b = plan_string(plan, options)});
}

void plan_fs(struct plan *plan, const char *path, const char *type, uint64_t flags,
	     const char *options, unsigned op_flags)
{
	add(plan, (struct wire_op){.kind = WIRE_FS,
				   .step = STEP_MOUNT_FS,
				   .flags = (uint16_t)op_flags,
				   .a = plan_string(plan, path),
				   .b = plan_string(plan, type),
				   .x = flags,
				   .y = options ? plan_string(plan, options) : 0});
}

void plan_bounds(struct plan *plan)
{
	add(plan, (struct wire_op){.kind = WIRE_BOUNDS,
				   .step = STEP_MOUNT_FS,
				   .a = plan_string(plan, "proc/sys/user")});
}

void plan_restrict(struct plan *plan, uint64_t attributes)
{
	add(plan, (struct wire_op){.kind = WIRE_RESTRICT,
				   .step = STEP_TREE_ATTR,
				   .a = plan_string(plan, "the new root"),
				   .x = attributes});
}

uint32_t plan_list(struct plan *plan, const char *const *list, uint32_t *ret_count)
{
	CLEANUP_FREE uint64_t *offsets = NULL;
	size_t count = 0;

	while (list[count])
		count++;
	*ret_count = (uint32_t)count;
	offsets = calloc(count + 1, sizeof(*offsets));
	if (!offsets) {
		keep_error(plan, -ENOMEM);
		return 0;
	}
	for (size_t i = 0; i < count; i++)
		offsets[i] = plan_string(plan, list[i]);
	return plan_array(plan, offsets, (count + 1) * sizeof(*offsets));
}

void plan_call(struct plan *plan, const struct box_call *call, uint64_t deadline_us)
{
	struct wire_call wire = {.deadline_us = deadline_us};
	uint32_t offset;

	wire.argv = plan_list(plan, call->argv, &wire.argc);
	wire.envp = plan_list(plan, call->envp, &wire.envc);
	wire.workdir = plan_string(plan, call->workdir);
	if (!strchr(call->argv[0], '/'))
		wire.search = plan_string(plan, call->search);
	offset = plan_array(plan, &wire, sizeof(wire));
	plan_header(plan)->call = offset;
}

int plan_finish(struct plan *plan, struct husk_error *err)
{
	uint32_t ops = plan_array(plan, plan->ops, plan->op_count * sizeof(*plan->ops));
	struct wire_header *header;

	/* Every string ends in the block, wherever an offset leads
	 * (runtime/wire_check.h).
	 */
	(void)plan_bytes(plan, "", 1);
	header = plan_header(plan);

	if (plan->error == -ENOMEM)
		return error_oom(err, "plan");
	if (plan->error < 0)
		return error_set(
		    err, HUSK_E_INVALID, "plan",
		    "the mounts, arguments or environment are too many or too large");
	header->ops = ops;
	header->op_count = plan->op_count;
	header->size = (uint32_t)plan->block.size;
	return 0;
}
