/* SPDX-License-Identifier: Apache-2.0 */
/* Layers unpacked and merged in a directory of the test's own, beside a canary that must
 * not change: base/ws/L0, L1, ... and base/ws/root. */
#ifndef TESTS_UNIT_OCI_LAYERS_H
#define TESTS_UNIT_OCI_LAYERS_H

#include "tests/unit/oci_tape.h"
#include "tests/unit/session_tree.h"

#include <stdlib.h>

#include "oci/unpack.h"

enum { LAYERS_MAX = 520 };

struct layers {
	struct tree tree;
	struct canary canary;
	char k[80]; /* the canary's path */
	int count;
	int fds[LAYERS_MAX];
	int root; /* -1 until layers_lay */
	struct layer_summary summary;
	struct husk_error err;
};

/* A source that gives its bytes in pieces of at most `piece`. */
struct piecemeal {
	const char *data;
	size_t size, piece;
};

static inline ssize_t piecemeal_read(void *user, void *data, size_t size,
				     struct husk_error *err)
{
	struct piecemeal *from = user;
	size_t n = from->size < size ? from->size : size;

	(void)err;
	if (from->piece && n > from->piece)
		n = from->piece;
	memcpy(data, from->data, n);
	from->data += n;
	from->size -= n;
	return (ssize_t)n;
}

static inline void layers_open_in(struct layers *l, const char *where)
{
	memset(l, 0, sizeof(*l));
	l->tree = tree_open_in(where);
	l->root = -1;
	(void)snprintf(l->k, sizeof(l->k), "%s/K", l->tree.base);
	l->canary = canary_look(&l->tree);
}

static inline void layers_open(struct layers *l)
{
	layers_open_in(l, P_tmpdir);
}

/* Nothing outside has changed, and all of it can be removed. */
static inline void layers_close(struct layers *l)
{
	char name[16];

	assert_canary(&l->tree, &l->canary);
	for (int i = 0; i < l->count; i++) {
		(void)close(l->fds[i]);
		(void)snprintf(name, sizeof(name), "L%d", i);
		assert_int_equal(tree_remove(l->tree.ws, name), 0);
	}
	if (l->root >= 0) {
		(void)close(l->root);
		assert_int_equal(tree_remove(l->tree.ws, "root"), 0);
	}
	assert_canary(&l->tree, &l->canary);
	tree_close(&l->tree);
}

/* Unpack bytes as the next layer. */
static inline int layers_unpack(struct layers *l, const void *data, size_t size,
				size_t piece, enum compression compression)
{
	struct piecemeal from = {data, size, piece};
	struct layer_input input = {.read = piecemeal_read,
				    .user = &from,
				    .compression = compression,
				    .where = "the layer"};
	char name[16];

	(void)snprintf(name, sizeof(name), "L%d", l->count);
	make_dir(l->tree.ws, name);
	l->fds[l->count] = open_dir(l->tree.ws, name);
	memset(&l->err, 0, sizeof(l->err));
	return layer_unpack(l->fds[l->count++], &input, &l->summary, &l->err);
}

/* End the archive and unpack it; the tape is empty afterwards. */
static inline int layers_try(struct layers *l, struct buffer *tape)
{
	int rc;

	tape_end(tape);
	rc = layers_unpack(l, tape->data, tape->size, 0, COMPRESSION_NONE);
	buffer_deinit(tape);
	return rc;
}

/* The same, and it must work. */
static inline void layers_add(struct layers *l, struct buffer *tape)
{
	int rc = layers_try(l, tape);

	if (rc != 0)
		fail_msg("%d: %s: %s", rc, l->err.where, l->err.message);
}

/* The same, and it must be refused, the message having these words. */
static inline void layers_refuse(struct layers *l, struct buffer *tape, int code,
				 const char *words)
{
	assert_int_equal(layers_try(l, tape), code);
	assert_int_equal(l->err.code, code);
	if (!strstr(l->err.message, words))
		fail_msg("\"%s\" is not in \"%s\"", words, l->err.message);
}

static inline int layers_try_lay(struct layers *l)
{
	if (l->root >= 0) {
		(void)close(l->root);
		assert_int_equal(tree_remove(l->tree.ws, "root"), 0);
	}
	make_dir(l->tree.ws, "root");
	l->root = open_dir(l->tree.ws, "root");
	memset(&l->err, 0, sizeof(l->err));
	return layers_merge(l->fds, (size_t)l->count, l->root, "the image", &l->err);
}

static inline void layers_lay(struct layers *l)
{
	int rc = layers_try_lay(l);

	if (rc != 0)
		fail_msg("%d: %s: %s", rc, l->err.where, l->err.message);
}

/* -- looking ---------------------------------------------------------------------- */

static inline struct stat stat_of(int dir, const char *path)
{
	struct stat st;

	if (fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		fail_msg("%s: %s", path, strerror(errno));
	return st;
}

static inline void assert_text(int dir, const char *path, const char *text)
{
	char have[4096] = {0};
	int fd = openat(dir, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		fail_msg("%s: %s", path, strerror(errno));
	assert_true(read(fd, have, sizeof(have) - 1) >= 0);
	(void)close(fd);
	assert_string_equal(have, text);
}

static inline void assert_target(int dir, const char *path, const char *target)
{
	char have[4096] = {0};

	if (readlinkat(dir, path, have, sizeof(have) - 1) < 0)
		fail_msg("%s: %s", path, strerror(errno));
	assert_string_equal(have, target);
}

static inline void assert_mode(int dir, const char *path, mode_t mode)
{
	struct stat st = stat_of(dir, path);

	if (st.st_mode != mode)
		fail_msg("%s has mode %o, not %o", path, st.st_mode, mode);
}

static inline void assert_gone(int dir, const char *path)
{
	if (exists(dir, path))
		fail_msg("%s is there", path);
}

/* Path must be a directory itself, not by way of a link. */
static inline void assert_dir(int dir, const char *path)
{
	assert_true(S_ISDIR(stat_of(dir, path).st_mode));
}

static inline void assert_same_file(int dir, const char *one, const char *other)
{
	assert_int_equal(stat_of(dir, one).st_ino, stat_of(dir, other).st_ino);
}

#endif
