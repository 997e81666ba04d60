/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: the plan of a box, written and read.
 *
 * 'r' and any bytes: a block. Other first bytes: lines that are put into a plan by its
 * builder, each with a byte that says how; behind an empty line, changes to the finished
 * block (two bytes where, one byte what). What the builder finishes is sound and can be
 * described; whatever is sound can be described without a look past its end. Init walks
 * what is sound by the same offsets.
 */
#include "tests/fuzz/cursor.h"

#include "runtime/plan.h"
#include "runtime/wire_check.h"

enum { WORDS = 16, OPS = 64, CHANGES = 32, TEXT_MAX = 1 << 22 };

static void describe(const struct wire_header *block)
{
	struct buffer text = BUFFER_INIT(TEXT_MAX);

	(void)plan_describe(block, &text);
	buffer_deinit(&text);
}

/* On a block of its very size, so that a sanitizer sees every byte past it. */
static struct wire_header *copy(const void *data, size_t size)
{
	struct wire_header *block = malloc(size ? size : 1);

	require(block != NULL);
	if (size > 0)
		memcpy(block, data, size);
	return block;
}

static void read_block(const void *data, size_t size)
{
	struct wire_header *block = copy(data, size);

	if (wire_is_sound(block, size))
		describe(block);
	free(block);
}

static void add(struct plan *plan, unsigned kind, const char *a, const char *b)
{
	switch (kind % 16) {
	case 0:
		plan_dir(plan, a, kind);
		break;
	case 1:
		plan_dirs(plan, a, kind & 16);
		break;
	case 2:
		plan_node(plan, a, kind);
		break;
	case 3:
		plan_file(plan, a, b, strlen(b), kind);
		break;
	case 4:
		plan_symlink(plan, a, b);
		break;
	case 5:
		plan_mount(plan, plan_tree_open(plan, a, kind, kind), b);
		break;
	case 6:
		plan_mount_user(plan, plan_tree_given(plan, a, (int)kind), b);
		break;
	case 7:
		plan_tree_attr(plan, 0, a, ~0ULL);
		break;
	case 8:
		plan_carrier(plan, kind, kind);
		break;
	case 9:
		plan_enter(plan, a);
		break;
	case 10:
		plan_bind(plan, a, b, kind, kind & 16 ? STEP_MASK : STEP_MOUNT_TREE);
		break;
	case 11:
		plan_overlay(plan, a, b);
		break;
	case 12:
		plan_fs(plan, a, b, kind, kind & 16 ? a : NULL, kind & WIRE_TOLERATE);
		break;
	case 13:
		plan_restrict(plan, kind);
		break;
	default:
		(void)plan_array(plan, a, strlen(a));
	}
}

/* The rest of what a plan has. A path may have been too long for it. */
static bool close_plan(struct plan *plan, const char *const *words)
{
	const struct box_call call = {
	    .argv = words, .envp = words, .search = "/bin", .workdir = "/workspace"};
	struct husk_error err = {0};
	uint32_t name = plan_string(plan, "box");
	int r;

	plan_header(plan)->hostname = name;
	plan_call(plan, &call, 1);
	r = plan_finish(plan, &err);
	if (r < 0)
		require_refusal(r, &err);
	return r == 0;
}

static void change(const struct plan *plan, struct cursor *c)
{
	size_t size = plan->block.size;
	struct wire_header *block = copy(plan->block.data, size);

	for (int i = 0; c->size >= 3 && i < CHANGES; i++) {
		size_t at = cursor_word(c) % size;

		((uint8_t *)block)[at] = (uint8_t)cursor_byte(c);
	}
	if (wire_is_sound(block, size))
		describe(block);
	free(block);
}

static void build(struct cursor *c)
{
	struct plan plan;
	char *words[WORDS + 1] = {0};
	size_t count = 0;

	require(plan_init(&plan, NULL) == 0);
	for (int i = 0; c->size > 0 && *c->data != '\n' && i < OPS; i++) {
		unsigned kind = cursor_byte(c);
		char *a = cursor_line(c), *b = cursor_line(c);

		add(&plan, kind, a, b);
		free(a);
		if (count < WORDS)
			words[count++] = b;
		else
			free(b);
	}
	(void)cursor_byte(c);
	if (count == 0)
		words[count++] = strdup("true");
	if (close_plan(&plan, (const char *const *)words)) {
		require(wire_is_sound(plan_header(&plan), plan.block.size));
		describe(plan_header(&plan));
		change(&plan, c);
	}
	for (size_t i = 0; i < count; i++)
		free(words[i]);
	plan_deinit(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor c = {data, size};

	if (size > 0 && data[0] == 'r')
		read_block(data + 1, size - 1);
	else
		build(&c);
	return 0;
}
