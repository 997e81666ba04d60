/* SPDX-License-Identifier: Apache-2.0 */
/* A finished plan as text. Nothing is looked up: what is printed is what init is given.
 */
#include <errno.h>
#include <linux/mount.h>
#include <stdlib.h>

#include "runtime/plan.h"

static const char *text(const struct wire_header *header, uint64_t offset)
{
	return (const char *)header + offset;
}

static const struct {
	uint64_t bit;
	const char *name;
} attribute_names[] = {
    {MOUNT_ATTR_RDONLY, " ro"},
    {MOUNT_ATTR_NOSUID, " nosuid"},
    {MOUNT_ATTR_NODEV, " nodev"},
    {MOUNT_ATTR_NOEXEC, " noexec"},
};

static int add_attributes(struct buffer *out, uint64_t attributes)
{
	int r = 0;

	for (size_t i = 0; i < sizeof(attribute_names) / sizeof(attribute_names[0]);
	     i++) {
		if (r == 0 && (attributes & attribute_names[i].bit))
			r = buffer_add_text(out, attribute_names[i].name);
	}
	return r;
}

static int describe_tree(const struct wire_header *h, const struct wire_op *op,
			 struct buffer *out)
{
	const char *a = text(h, op->a);
	int r;

	switch (op->kind) {
	case WIRE_TREE_OPEN:
		return buffer_addf(out, "tree #%u = clone of host %s, pinned\n", op->slot,
				   a);
	case WIRE_TREE_GIVEN:
		return buffer_addf(out, "tree #%u = id-mapped clone of host %s\n",
				   op->slot, a);
	case WIRE_TREE_ATTR:
		r = buffer_addf(out, "tree #%u (%s) becomes private", op->slot, a);
		if (r == 0)
			r = add_attributes(out, op->x);
		return r < 0 ? r : buffer_add_text(out, "\n");
	default:
		return buffer_addf(out, "mount tree #%u on /%s\n", op->slot, a);
	}
}

static int describe_node(const struct wire_header *h, const struct wire_op *op,
			 struct buffer *out)
{
	const char *a = text(h, op->a);

	switch (op->kind) {
	case WIRE_DIR:
		return buffer_addf(out, "dir /%s %04o\n", a, (unsigned)op->x);
	case WIRE_NODE:
		return buffer_addf(out, "node /%s %04o\n", a, (unsigned)op->x);
	case WIRE_FILE:
		return buffer_addf(out, "file /%s %04o, %llu bytes\n", a, (unsigned)op->x,
				   (unsigned long long)op->y);
	default:
		return buffer_addf(out, "link /%s -> %s\n", a, text(h, op->b));
	}
}

static int describe_bind(const struct wire_header *h, const struct wire_op *op,
			 struct buffer *out)
{
	const char *source = text(h, op->b);
	int r = buffer_addf(out, "%s %s%s on /%s",
			    op->step == STEP_MASK ? "mask with" : "bind",
			    source[0] == '/' ? "host " : "", source, text(h, op->a));

	if (r == 0)
		r = add_attributes(out, op->x);
	return r < 0 ? r : buffer_add_text(out, "\n");
}

static int describe_attributes(const char *what, const struct wire_op *op,
			       struct buffer *out)
{
	int r = buffer_add_text(out, what);

	if (r == 0)
		r = add_attributes(out, op->x);
	return r < 0 ? r : buffer_add_text(out, "\n");
}

static int describe_op(const struct wire_header *h, const struct wire_op *op,
		       struct buffer *out)
{
	const char *a = text(h, op->a);

	switch (op->kind) {
	case WIRE_TREE_OPEN:
	case WIRE_TREE_GIVEN:
	case WIRE_TREE_ATTR:
	case WIRE_MOUNT:
	case WIRE_MOUNT_USER:
		return describe_tree(h, op, out);
	case WIRE_DIR:
	case WIRE_NODE:
	case WIRE_FILE:
	case WIRE_SYMLINK:
		return describe_node(h, op, out);
	case WIRE_CARRIER:
		return buffer_addf(out, "carrier: tmpfs of %llu bytes, %llu inodes\n",
				   (unsigned long long)op->x, (unsigned long long)op->y);
	case WIRE_ENTER:
		return buffer_addf(out, "the new root is /%s of the carrier\n", a);
	case WIRE_BIND:
		return describe_bind(h, op, out);
	case WIRE_OVERLAY:
		return buffer_addf(out, "overlay on /%s, %s\n", a, text(h, op->b));
	case WIRE_FS:
		return buffer_addf(out, "%s on /%s%s%s%s\n", text(h, op->b), a,
				   op->y ? ", " : "", op->y ? text(h, op->y) : "",
				   op->flags & WIRE_TOLERATE ? ", where it can be had"
							     : "");
	case WIRE_BOUNDS:
		return buffer_addf(out, "bounds of the user namespace in /%s\n", a);
	case WIRE_RESTRICT:
		return describe_attributes("all mounts become private", op, out);
	default:
		return -EINVAL;
	}
}

static int describe_list(const struct wire_header *h, const char *label, uint32_t offset,
			 uint32_t count, struct buffer *out)
{
	const uint64_t *list = (const uint64_t *)(const void *)text(h, offset);
	int r = 0;

	for (uint32_t i = 0; i < count && r == 0; i++)
		r = buffer_addf(out, "%s %s\n", label, text(h, list[i]));
	return r;
}

static int describe_lockdown(const struct wire_header *h, struct buffer *out)
{
	int r =
	    buffer_addf(out, "user namespaces %s\ncapabilities none\nno_new_privs set\n",
			h->no_user_spaces ? "none further" : "as the filter allows");

	if (r == 0 && h->landlock_fs == 0)
		r = buffer_add_text(out, "landlock none: this kernel has it not\n");
	else if (r == 0)
		r = buffer_addf(out, "landlock files beneath / alone, rights %#llx%s\n",
				(unsigned long long)h->landlock_fs,
				h->landlock_scoped
				    ? "; abstract sockets and signals stay inside"
				    : "");
	if (r == 0)
		r = buffer_addf(out, "seccomp %u instructions\n", h->filter_count);
	if (r == 0 && h->denials != 0)
		r = buffer_add_text(out, "every system call is traced\n");
	return r;
}

int plan_describe(const struct wire_header *h, struct buffer *out)
{
	const struct wire_op *ops = (const struct wire_op *)(const void *)text(h, h->ops);
	const struct wire_call *call =
	    (const struct wire_call *)(const void *)text(h, h->call);
	int r = buffer_addf(out, "hostname %s\nloopback %s\n", text(h, h->hostname),
			    h->loopback ? "own, up" : "the host's");

	for (uint32_t i = 0; i < h->op_count && r == 0; i++)
		r = describe_op(h, &ops[i], out);
	for (uint32_t i = 0; i < h->rlimit_count && r == 0; i++) {
		const struct wire_rlimit *limit = &h->rlimits[i];

		r = limit->raise
			? buffer_addf(out, "rlimit %u soft = hard\n", limit->resource)
			: buffer_addf(out, "rlimit %u %llu %llu\n", limit->resource,
				      (unsigned long long)limit->soft,
				      (unsigned long long)limit->hard);
	}
	if (r == 0)
		r = describe_lockdown(h, out);
	if (h->call == 0) /* it comes later */
		return r;
	if (r == 0)
		r = buffer_addf(out, "workdir %s\n", text(h, call->workdir));
	if (r == 0)
		r = describe_list(h, "env", call->envp, call->envc, out);
	if (r == 0)
		r = describe_list(h, "arg", call->argv, call->argc, out);
	return r;
}
