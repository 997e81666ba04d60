/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/wire_check.h"

#include <linux/bpf_common.h>
#include <linux/filter.h>

#include "runtime/steps.h"

/* The block ends in a NUL, so that every string in it ends. */
static bool ends(const struct wire_header *h)
{
	return ((const char *)h)[h->size - 1] == '\0';
}

static bool is_string(const struct wire_header *h, uint64_t offset)
{
	return offset < h->size;
}

/* count and size are 32 bits each: their product fits. */
static bool is_array(const struct wire_header *h, uint32_t offset, uint32_t count,
		     uint32_t size, uint32_t alignment)
{
	uint64_t bytes = (uint64_t)count * size;

	return offset % alignment == 0 && offset >= sizeof(*h) && bytes <= h->size &&
	       offset <= h->size - bytes;
}

static bool is_op(const struct wire_header *h, const struct wire_op *op)
{
	if (op->kind < WIRE_TREE_OPEN || op->kind > WIRE_RESTRICT ||
	    op->step == STEP_NONE || op->step >= STEP_COUNT || op->slot >= WIRE_SLOTS ||
	    !is_string(h, op->a) || !is_string(h, op->b))
		return false;
	switch (op->kind) {
	case WIRE_FILE: /* the content is not a string */
		return op->y <= h->size - op->b;
	case WIRE_FS:
		return is_string(h, op->y);
	case WIRE_TREE_GIVEN:
		return op->y <= INT32_MAX;
	default:
		return true;
	}
}

static bool are_ops(const struct wire_header *h)
{
	const struct wire_op *ops =
	    (const struct wire_op *)(const void *)((const char *)h + h->ops);

	if (h->op_count > WIRE_OPS_MAX ||
	    !is_array(h, h->ops, h->op_count, sizeof(*ops), _Alignof(struct wire_op)))
		return false;
	for (uint32_t i = 0; i < h->op_count; i++) {
		if (!is_op(h, &ops[i]))
			return false;
	}
	return true;
}

/* A list of strings, closed by a 0. */
static bool is_list(const struct wire_header *h, uint32_t offset, uint32_t count)
{
	const uint64_t *list = (const uint64_t *)(const void *)((const char *)h + offset);

	if (count == UINT32_MAX ||
	    !is_array(h, offset, count + 1, sizeof(*list), _Alignof(uint64_t)))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (list[i] == 0 || !is_string(h, list[i]))
			return false;
	}
	return list[count] == 0;
}

static bool is_filter(const struct wire_header *h, uint32_t offset)
{
	return h->filter_count == 0 ||
	       (h->filter_count <= BPF_MAXINSNS &&
		is_array(h, offset, h->filter_count, sizeof(struct sock_filter),
			 _Alignof(struct sock_filter)));
}

/* What a call decides, where it is in the block. */
static bool is_call(const struct wire_header *h)
{
	const struct wire_call *call =
	    (const struct wire_call *)(const void *)((const char *)h + h->call);

	return is_array(h, h->call, 1, sizeof(*call), _Alignof(struct wire_call)) &&
	       call->argc > 0 && is_list(h, call->argv, call->argc) &&
	       is_list(h, call->envp, call->envc) && is_string(h, call->search) &&
	       is_string(h, call->workdir);
}

/* The block, and the room for a call's behind it, are all that there is. */
static bool fills(const struct wire_header *h, uint64_t size)
{
	if (h->room == 0)
		return h->size == size;
	return h->size >= sizeof(*h) && h->room >= h->size &&
	       h->room % _Alignof(struct wire_header) == 0 &&
	       h->room_size >= sizeof(*h) && (uint64_t)h->room + h->room_size == size;
}

bool wire_is_sound(const struct wire_header *h, uint64_t size)
{
	return size >= sizeof(*h) && h->magic == WIRE_MAGIC && fills(h, size) &&
	       ends(h) && are_ops(h) && h->part <= WIRE_BOX &&
	       h->rlimit_count <= WIRE_RLIMITS && (h->call == 0 || is_call(h)) &&
	       is_string(h, h->hostname) && is_filter(h, h->filter) &&
	       is_filter(h, h->filter_plain);
}
