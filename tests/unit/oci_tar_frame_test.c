/* SPDX-License-Identifier: Apache-2.0 */
/* Archives that different readers see differently: what one takes for content is a header
 * to another. They are refused, or come out as POSIX and GNU tar have them. */
#include "tests/unit/oci_layers.h"

/* Content that looks like an entry of its own. */
static void add_smuggled(struct buffer *tape)
{
	tape_file(tape, "smuggled", "x");
}

static void assert_not_smuggled(struct layers *l)
{
	layers_lay(l);
	assert_gone(l->root, "smuggled");
}

/* pax size, then a long name, then a small header: the size is the file's. */
static void a_size_before_a_long_name(void **state)
{
	struct buffer tape = TAPE_INIT;
	struct layers l;
	(void)state;

	layers_open(&l);
	tape_pax(&tape, "size", "1024");
	tape_extra(&tape, 'L', "long", 5);
	tape_header(&tape, &(struct tape_header){
			       .name = "a", .type = '0', .mode = 0644, .size = 20});
	add_smuggled(&tape);
	tape_file(&tape, "b", "after");
	layers_add(&l, &tape);
	assert_not_smuggled(&l);
	assert_int_equal(stat_of(l.root, "long").st_size, 1024);
	assert_text(l.root, "b", "after");
	assert_gone(l.root, "a");
	layers_close(&l);
}

static void a_size_over_one_that_differs(void **state)
{
	static const uint64_t own[] = {0, 1, 512, 4096};
	struct layers l;
	(void)state;

	for (size_t i = 0; i < 4; i++) {
		struct buffer tape = TAPE_INIT;

		layers_open(&l);
		tape_pax(&tape, "size", "1024");
		tape_header(&tape,
			    &(struct tape_header){
				.name = "a", .type = '0', .mode = 0644, .size = own[i]});
		add_smuggled(&tape);
		tape_file(&tape, "b", "after");
		layers_add(&l, &tape);
		assert_not_smuggled(&l);
		assert_int_equal(stat_of(l.root, "a").st_size, 1024);
		assert_text(l.root, "b", "after");
		layers_close(&l);
	}
}

/* Links and directories have no content; readers differ where one says it has. */
static void a_size_of_what_has_no_content(void **state)
{
	static const char types[] = {'1', '2', '3', '4', '5', '6'};
	struct layers l;
	(void)state;

	layers_open(&l);
	for (size_t i = 0; i < sizeof(types); i++) {
		struct buffer tape = TAPE_INIT;
		int rc;

		tape_file(&tape, "first", "1");
		tape_header(&tape, &(struct tape_header){.name = "a",
							 .type = types[i],
							 .mode = 0644,
							 .size = 1024,
							 .link = "first"});
		add_smuggled(&tape);
		rc = layers_try(&l, &tape);
		/* Taken for an entry, as GNU tar does, or refused; never skipped. */
		assert_true(rc == 0 || rc == HUSK_E_IMAGE);
		if (rc == 0)
			assert_true(exists(l.fds[l.count - 1], "tree/smuggled"));
	}
	layers_close(&l);
}

static void refuse_extensions(void (*make)(struct buffer *tape), const char *words)
{
	struct buffer tape = TAPE_INIT;
	struct layers l;

	layers_open(&l);
	make(&tape);
	tape_file(&tape, "f", "1");
	layers_refuse(&l, &tape, HUSK_E_IMAGE, words);
	layers_close(&l);
}

static void two_pax(struct buffer *tape)
{
	tape_pax(tape, "size", "1");
	tape_pax(tape, "size", "512");
}

static void two_long_names(struct buffer *tape)
{
	tape_extra(tape, 'L', "a", 2);
	tape_extra(tape, 'L', "b", 2);
}

static void one_thing_twice(struct buffer *tape)
{
	struct buffer records = TAPE_INIT;

	pax_add(&records, "path", "a", 1);
	pax_add(&records, "path", "b", 1);
	tape_extra(tape, 'x', records.data, records.size);
	buffer_deinit(&records);
}

static void a_global_size(struct buffer *tape)
{
	tape_extra(tape, 'g', "12 size=512\n", 12);
}

static void a_global_name(struct buffer *tape)
{
	tape_extra(tape, 'g', "10 path=a\n", 10);
}

static void a_name_with_a_nul(struct buffer *tape)
{
	tape_extra(tape, 'x', "12 path=a\0b\n", 12);
}

static void a_wrong_length(struct buffer *tape)
{
	tape_extra(tape, 'x', "99 path=a\n", 10);
}

static void no_length(struct buffer *tape)
{
	tape_extra(tape, 'x', "path=a\n", 7);
}

static void a_negative_size(struct buffer *tape)
{
	tape_pax(tape, "size", "-1");
}

static void a_huge_size(struct buffer *tape)
{
	tape_pax(tape, "size", "9223372036854775808");
}

static void half_a_sparse_file(struct buffer *tape)
{
	tape_pax(tape, "GNU.sparse.realsize", "20");
}

static void a_map_that_does_not_fit(struct buffer *tape)
{
	struct buffer records = TAPE_INIT;

	pax_add(&records, "GNU.sparse.size", "20", 2);
	pax_add(&records, "GNU.sparse.numblocks", "1", 1);
	pax_add(&records, "GNU.sparse.map", "0,20", 4);
	tape_extra(tape, 'x', records.data, records.size);
	buffer_deinit(&records);
}

static void an_empty_old_map(struct buffer *tape)
{
	tape_add(tape, "s", 'S', 0644, NULL, "content");
}

static void a_wrong_checksum(struct buffer *tape)
{
	tape_header(tape, &(struct tape_header){
			      .name = "bad", .type = '0', .mode = 0644, .sum_off = 1});
}

static void a_size_in_words(struct buffer *tape)
{
	tape_header(tape, &(struct tape_header){.name = "bad",
						.type = '0',
						.mode = 0644,
						.raw_size = "0x000000010\0"});
}

static void minus_one(struct buffer *tape)
{
	tape_header(tape,
		    &(struct tape_header){
			.name = "bad",
			.type = '0',
			.mode = 0644,
			.raw_size = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"});
}

static void two_to_the_63(struct buffer *tape)
{
	tape_header(tape,
		    &(struct tape_header){.name = "bad",
					  .type = '0',
					  .mode = 0644,
					  .raw_size = "\x80\0\0\0\x80\0\0\0\0\0\0\0"});
}

static void contradictions_are_refused(void **state)
{
	static const struct {
		void (*make)(struct buffer *tape);
		const char *words;
	} rows[] = {
	    {two_pax, "one kind in a row"},
	    {two_long_names, "one kind in a row"},
	    {one_thing_twice, "one thing twice"},
	    {a_global_size, "global header"},
	    {a_global_name, "global header"},
	    {a_name_with_a_nul, "NUL"},
	    {a_wrong_length, "pax header"},
	    {no_length, "pax header"},
	    {a_negative_size, "size"},
	    {a_huge_size, "size"},
	    {half_a_sparse_file, "sparse file"},
	    {a_map_that_does_not_fit, "sparse file"},
	    {an_empty_old_map, "sparse map"},
	    {a_wrong_checksum, "checksum"},
	    {a_size_in_words, "size"},
	    {minus_one, "size"},
	    {two_to_the_63, "size"},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		refuse_extensions(rows[i].make, rows[i].words);
}

static void sizes_past_the_bound(void **state)
{
	struct buffer file = TAPE_INIT, sparse = TAPE_INIT, records = TAPE_INIT;
	struct layers l;
	(void)state;

	layers_open(&l);
	tape_pax(&file, "size", "1152921504606846976");
	tape_file(&file, "f", "1");
	layers_refuse(&l, &file, HUSK_E_TOO_BIG, "OCI_MAX_LAYER_BYTES");
	pax_add(&records, "GNU.sparse.major", "1", 1);
	pax_add(&records, "GNU.sparse.minor", "0", 1);
	pax_add(&records, "GNU.sparse.realsize", "9223372036854775807", 19);
	tape_extra(&sparse, 'x', records.data, records.size);
	tape_file(&sparse, "f", "1\n9223372036854775806\n1\n");
	layers_refuse(&l, &sparse, HUSK_E_TOO_BIG, "OCI_MAX_LAYER_BYTES");
	buffer_deinit(&records);
	layers_close(&l);
}

static void an_endless_extension_is_refused(void **state)
{
	struct buffer tape = TAPE_INIT, records = TAPE_INIT;
	struct layers l;
	(void)state;

	layers_open(&l);
	while (records.size < 2 << 20)
		pax_add(&records, "k", "v", 1);
	tape_extra(&tape, 'x', records.data, records.size);
	tape_file(&tape, "f", "1");
	layers_refuse(&l, &tape, HUSK_E_TOO_BIG, "TAR_MAX_EXTENSION");
	buffer_deinit(&records);
	layers_close(&l);
}

static void harmless_extensions_are_taken(void **state)
{
	struct buffer tape = TAPE_INIT;
	struct layers l;
	(void)state;

	layers_open(&l);
	tape_extra(&tape, 'g', "16 comment=git!\n", 16);
	tape_extra(&tape, 'L', "long", 5);
	tape_pax(&tape, "comment", "nothing");
	tape_file(&tape, "short", "1");
	tape_file(&tape, "next", "2");
	layers_add(&l, &tape);
	layers_lay(&l);
	assert_text(l.root, "long", "1");
	assert_text(l.root, "next", "2");
	layers_close(&l);
}

/* However the stream is cut into pieces, the same comes out. */
static void pieces_do_not_matter(void **state)
{
	static const size_t pieces[] = {1, 7, 511, 512, 513};
	struct buffer tape = TAPE_INIT;
	struct layers l;
	struct digest first;
	(void)state;

	layers_open(&l);
	tape_pax(&tape, "path", "pax/name");
	tape_file(&tape, "short", "content");
	tape_extra(&tape, 'L', "long", 5);
	tape_file(&tape, "short", "more");
	tape_end(&tape);
	tape_bytes(&tape, "what follows the end belongs to the digest", 43);
	assert_int_equal(digest_of(DIGEST_SHA256, tape.data, tape.size, &first, NULL), 0);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(
		    layers_unpack(&l, tape.data, tape.size, pieces[i], COMPRESSION_NONE),
		    0);
		assert_true(digest_equal(&first, &l.summary.diff_id));
		assert_int_equal(l.summary.entries, 2);
		assert_int_equal(l.summary.bytes, 11);
		assert_text(l.fds[i], "tree/pax/name", "content");
		assert_text(l.fds[i], "tree/long", "more");
	}
	buffer_deinit(&tape);
	layers_close(&l);
}

static void a_cut_is_noticed_wherever_it_is(void **state)
{
	struct buffer tape = TAPE_INIT;
	struct layers l;
	(void)state;

	layers_open(&l);
	tape_pax(&tape, "path", "name");
	tape_file(&tape, "short", "content");
	/* Some writers leave out the last padding; all before it must be there. */
	for (size_t cut = 1; cut < tape.size - 505; cut += 61) {
		assert_int_equal(layers_unpack(&l, tape.data, cut, 0, COMPRESSION_NONE),
				 HUSK_E_IMAGE);
		assert_non_null(strstr(l.err.message, "truncated"));
	}
	/* Between entries a missing end marker is no cut. */
	assert_int_equal(layers_unpack(&l, tape.data, tape.size, 0, COMPRESSION_NONE), 0);
	buffer_deinit(&tape);
	layers_close(&l);
}

static void empty_archives_are_layers(void **state)
{
	static const char zeros[2048];
	struct layers l;
	(void)state;

	layers_open(&l);
	assert_int_equal(layers_unpack(&l, zeros, 0, 0, COMPRESSION_NONE), 0);
	assert_int_equal(layers_unpack(&l, zeros, 1024, 0, COMPRESSION_NONE), 0);
	assert_int_equal(layers_unpack(&l, zeros, 2048, 0, COMPRESSION_NONE), 0);
	assert_int_equal(l.summary.entries, 0);
	layers_lay(&l);
	assert_int_equal(layers_unpack(&l, "no tar at all", 13, 0, COMPRESSION_NONE),
			 HUSK_E_IMAGE);
	layers_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_size_before_a_long_name),
	    cmocka_unit_test(a_size_over_one_that_differs),
	    cmocka_unit_test(a_size_of_what_has_no_content),
	    cmocka_unit_test(contradictions_are_refused),
	    cmocka_unit_test(sizes_past_the_bound),
	    cmocka_unit_test(an_endless_extension_is_refused),
	    cmocka_unit_test(harmless_extensions_are_taken),
	    cmocka_unit_test(pieces_do_not_matter),
	    cmocka_unit_test(a_cut_is_noticed_wherever_it_is),
	    cmocka_unit_test(empty_archives_are_layers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
