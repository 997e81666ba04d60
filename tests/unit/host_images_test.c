/* SPDX-License-Identifier: Apache-2.0 */
/* What is said about libraries and the store on hosts that are made up, and the level of
 * protection that follows from all rows. */
#include "tests/unit/host_view.h"

static void libraries(void **state)
{
	static const struct {
		enum health_library library;
		const char *row, *lost;
	} all[] = {
	    {HEALTH_CURL, "libcurl", "husk pull"},
	    {HEALTH_SSL, "libssl", "TLS"},
	    {HEALTH_ARCHIVE, "libarchive", "neither pulled nor imported"},
	    {HEALTH_ZLIB, "libz", "without libisal"},
	    {HEALTH_ISAL, "libisal", "slower"},
	    {HEALTH_ZSTD, "libzstd", "zstd layers"},
	    {HEALTH_CRYPTO, "libcrypto", "SHA-512"},
	};

	(void)state;
	assert_int_equal(sizeof(all) / sizeof(all[0]), HEALTH_LIBRARIES);
	for (size_t i = 0; i < HEALTH_LIBRARIES; i++) {
		struct host_view *view = healthy();
		husk_host *host;

		expect(view, all[i].row, HUSK_PROBE_OK, "found", NULL);
		view->libraries[all[i].library] = (struct host_library){
		    .why = "libx.so.1 is not installed", .remedy = "apt install libx1"};
		expect(view, all[i].row, HUSK_PROBE_WEAKER, "libx.so.1 is not installed",
		       "apt install libx1");
		expect(view, all[i].row, HUSK_PROBE_WEAKER, all[i].lost,
		       "apt install libx1");
		host = host_judge(view);
		assert_string_equal(husk_host_level(host), "full");
		assert_non_null(strstr(husk_host_summary(host), all[i].row));
		husk_host_free(host);
	}
}

static void a_store_and_its_place(void **state)
{
	struct host_view *view = healthy();
	struct health_store *at = &view->store.at;

	(void)state;
	expect(view, "store", HUSK_PROBE_OK, "/home/user/.local/share/husk (ext4,", NULL);
	expect(view, "store", HUSK_PROBE_OK, "there, of user 1000", NULL);
	at->there = false;
	expect(view, "store", HUSK_PROBE_OK, "not there yet", NULL);
	at->writable = false;
	expect(view, "store", HUSK_PROBE_WEAKER, "this user cannot make it",
	       "HUSK_STORE=DIR");
	at->there = true;
	expect(view, "store", HUSK_PROBE_WEAKER, "may not add images", "HUSK_STORE=DIR");
	at->writable = true;
	at->free_bytes = 100 << 20;
	expect(view, "store", HUSK_PROBE_WEAKER, "100 MiB free", "husk image prune");
	at->free_bytes = 100ULL << 30;
	at->free_files = 10;
	expect(view, "store", HUSK_PROBE_WEAKER, "short of inodes", "husk image prune");
	at->free_files = UINT64_MAX;
	expect(view, "store", HUSK_PROBE_OK, "ext4", NULL);
	at->read_only = true;
	expect(view, "store", HUSK_PROBE_WEAKER, "mounted read-only", "HUSK_STORE=DIR");
	at->noexec = true;
	expect(view, "store", HUSK_PROBE_WEAKER, "mounted noexec", "HUSK_STORE=DIR");
	at->fs_type = MSDOS_SUPER_MAGIC;
	expect(view, "store", HUSK_PROBE_WEAKER, "(fat,", "HUSK_STORE=DIR");
	expect(view, "store", HUSK_PROBE_WEAKER, "has no links", "HUSK_STORE=DIR");
}

static void a_store_that_cannot_be_used(void **state)
{
	struct host_view *view = healthy();
	struct health_store *at = &view->store.at;

	(void)state;
	view->store.idmap.state = PROBE_FAILS;
	expect(view, "store", HUSK_PROBE_WEAKER, "no id-mapped mount", "ordinary user");
	at->problem = (struct husk_error){.code = HUSK_E_INVALID,
					  .where = "/srv/store",
					  .message = "belongs to user 7",
					  .hint = "chown -R"};
	expect(view, "store", HUSK_PROBE_WEAKER, "/srv/store: belongs to user 7",
	       "chown -R");
	at->problem.hint[0] = '\0';
	expect(view, "store", HUSK_PROBE_WEAKER, "belongs to user 7", "HUSK_STORE=DIR");
	view = healthy();
	(void)snprintf(view->store.at.path, sizeof(view->store.at.path), "/a\nb\x1b[31m");
	expect(view, "store", HUSK_PROBE_OK, "/a\\nb\\x1b[31m", NULL);
}

static void expect_level(const struct host_view *view, const char *level,
			 const char *first, const char *second)
{
	husk_host *host = host_judge(view);

	assert_string_equal(husk_host_level(host), level);
	assert_non_null(strstr(husk_host_summary(host), first));
	assert_non_null(strstr(husk_host_summary(host), second));
	assert_null(strchr(husk_host_summary(host), '\n'));
	assert_null(strstr(husk_host_summary(host), "cgroup")); /* it only explains */
	husk_host_free(host);
}

static void levels(void **state)
{
	struct host_view *view = healthy();
	struct cgroup_host_controller lost = {.why = "it is not delegated",
					      .remedy = "Delegate=yes"};

	(void)state;
	expect_level(view, "full", "every protection", "caps on memory, CPU and tasks");
	/* Less of something is no lower level, and is told. */
	break_probe(view, PROBE_OVERLAY, STEP_OVERLAY, ENODEV);
	view->box.ran = true;
	expect_level(view, "full", "every protection", "there is less of: overlay");
	view->limits.cpus = lost;
	expect_level(view, "best-effort", "(cpu-limit)", "runs with --cpus need");
	view->limits.memory = lost;
	expect_level(view, "best-effort", "(memory-limit, cpu-limit)",
		     "runs need --limits best-effort");
	view->has_limits = false;
	expect_level(view, "best-effort", "(memory-limit, cpu-limit, task-limit)",
		     "runs need");
	/* The first reason is given. */
	break_probe(view, PROBE_USER, STEP_CLONE, EPERM);
	expect_level(view, "none", "no box can run", "user-namespace: ");
	view = healthy();
	view->box = (struct host_box){.reason = "cannot do it", .remedy = "do it"};
	expect_level(view, "none", "no weaker one", "box: cannot do it");
}

/* Without the rows about images the rest is as it was. */
static void images_that_are_skipped(void **state)
{
	struct host_view *view = healthy();
	husk_host *all = host_judge(view), *host;

	(void)state;
	view->skip_images = true;
	host = host_judge(view);
	assert_int_equal(husk_host_count(host),
			 husk_host_count(all) - HEALTH_LIBRARIES - 1);
	for (size_t i = 0; i < husk_host_count(host); i++) {
		assert_null(strstr(husk_host_name(host, i), "lib"));
		assert_string_not_equal(husk_host_name(host, i), "store");
		assert_int_equal(husk_host_state(host, i), HUSK_PROBE_OK);
	}
	assert_string_equal(husk_host_level(host), "full");
	husk_host_free(host);
	husk_host_free(all);
}

int main(void)
{
	const struct CMUnitTest host_images[] = {
	    cmocka_unit_test(libraries),
	    cmocka_unit_test(a_store_and_its_place),
	    cmocka_unit_test(a_store_that_cannot_be_used),
	    cmocka_unit_test(levels),
	    cmocka_unit_test(images_that_are_skipped),
	};

	return cmocka_run_group_tests(host_images, NULL, NULL);
}
