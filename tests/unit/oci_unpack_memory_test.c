/* SPDX-License-Identifier: Apache-2.0 */
/* Unpacking and merging with every allocation failing once: HUSK_E_MEMORY or the right
 * answer, and everything can be removed. */
#define FAILING_OWN_ALONE
#include "tests/unit/failing_malloc.h"
#include "tests/unit/oci_layers.h"
#include "tests/unit/oci_packer.h"
#include "tests/unit/skipping.h"

#if !FAILING_MALLOC

/* A sanitizer has taken the place of malloc already. */
static void every_allocation_fails_once(void **state)
{
	(void)state;
	skip_because("a sanitizer has taken the place of malloc already");
}

#else

static void make_archive(struct buffer *packed, bool zstd)
{
	struct buffer tape = TAPE_INIT;
	char name[32];

	tape_dir(&tape, "d", 0755);
	tape_link(&tape, "l", "d");
	tape_pax(&tape, "path", "l/pax-name");
	tape_file(&tape, "short", "content");
	tape_hard(&tape, "h", "d/pax-name");
	tape_file(&tape, ".wh.gone", "");
	for (int i = 0; i < 300; i++) {
		(void)snprintf(name, sizeof(name), "n/%d/f", i);
		tape_file(&tape, name, "x");
	}
	tape_end(&tape);
	if (zstd)
		pack_zstd(packed, tape.data, tape.size, 0);
	else
		pack_gzip(packed, tape.data, tape.size);
	buffer_deinit(&tape);
}

/* 0 or HUSK_E_MEMORY. */
static int use(struct layers *l, const struct buffer *packed, bool zstd)
{
	struct piecemeal from = {packed->data, packed->size, 0};
	struct layer_input input = {piecemeal_read, &from,
				    zstd ? COMPRESSION_ZSTD : COMPRESSION_GZIP, "it",
				    NULL};
	int rc;

	failing = true;
	rc = layer_unpack(l->fds[0], &input, &l->summary, &l->err);
	if (rc == 0)
		rc = layers_merge(l->fds, 1, l->root, "it", &l->err);
	failing = false;
	if (rc != 0 && rc != HUSK_E_MEMORY)
		fail_msg("allocation %ld: %d: %s", fail_at, rc, l->err.message);
	return rc;
}

static int round_of(const struct buffer *packed, bool zstd)
{
	struct layers l;
	int rc;

	layers_open_in(&l, access("/dev/shm", W_OK) == 0 ? "/dev/shm" : P_tmpdir);
	make_dir(l.tree.ws, "L0");
	make_dir(l.tree.ws, "root");
	l.fds[l.count++] = open_dir(l.tree.ws, "L0");
	l.root = open_dir(l.tree.ws, "root");
	allocation = 0;
	rc = use(&l, packed, zstd);
	if (rc == 0)
		assert_text(l.root, "h", "content");
	layers_close(&l);
	return rc;
}

static void every_allocation_fails_once(void **state)
{
	int before = dup(0);
	(void)state;

	for (int zstd = 0; zstd < 2; zstd++) {
		struct buffer packed = TAPE_INIT;
		long total;

		make_archive(&packed, zstd);
		fail_at = 0;
		assert_int_equal(round_of(&packed, zstd), 0);
		total = allocation;
		assert_true(total > 600);
		/* All of the first and of the last, some of the many alike between. */
		for (fail_at = 1; fail_at <= total;
		     fail_at += fail_at < 80 || fail_at > total - 40 ? 1 : 17)
			(void)round_of(&packed, zstd);
		buffer_deinit(&packed);
	}
	(void)close(before);
	assert_int_equal(dup(0), before); /* no descriptor was left open */
	(void)close(before);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_allocation_fails_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
