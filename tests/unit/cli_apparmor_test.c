/* SPDX-License-Identifier: Apache-2.0 */
/* The AppArmor profile: its text, the programs that it may name, and how it is put into a
 * directory of profiles that is made up. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/apparmor.h"

static char dir[64], profile[96], parser[96], note[96];

static size_t read_text(const char *path, char text[CLI_APPARMOR_TEXT])
{
	FILE *file = fopen(path, "re");
	size_t size;

	assert_non_null(file);
	size = fread(text, 1, CLI_APPARMOR_TEXT - 1, file);
	text[size] = '\0';
	assert_int_equal(fclose(file), 0);
	return size;
}

static void write_text(const char *path, const char *text, mode_t mode)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fputs(text, file) < 0, 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static int setup(void **state)
{
	(void)state;
	(void)snprintf(dir, sizeof(dir), "/tmp/husk-apparmor-XXXXXX");
	assert_non_null(mkdtemp(dir));
	(void)snprintf(profile, sizeof(profile), "%s/husk", dir);
	(void)snprintf(parser, sizeof(parser), "%s/parser", dir);
	(void)snprintf(note, sizeof(note), "%s/note", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	(void)unlink(profile);
	(void)unlink(parser);
	(void)unlink(note);
	return rmdir(dir); /* nothing else was left in it */
}

/* A parser that notes what it was given and ends so. */
static void make_parser(int status)
{
	char text[256];

	(void)snprintf(text, sizeof(text), "#!/bin/sh\necho \"$#:$1:$2\" >>%s\nexit %d\n",
		       note, status);
	write_text(parser, text, 0755);
}

static int put(const char *program, bool active, struct cli_apparmor_done *done,
	       struct husk_error *err)
{
	const char *const parsers[] = {"/nonexistent/apparmor_parser", parser, NULL};
	const struct cli_apparmor place = {program, dir, parsers, active};

	*err = (struct husk_error){0};
	return cli_apparmor_put(&place, done, err);
}

static void the_text_is_the_one_that_comes_with_husk(void **state)
{
	char shipped[CLI_APPARMOR_TEXT], text[CLI_APPARMOR_TEXT];

	(void)state;
	(void)read_text("docs/apparmor/husk", shipped);
	assert_int_equal(cli_apparmor_profile("/usr/bin/husk", text), strlen(shipped));
	assert_string_equal(text, shipped);
	(void)cli_apparmor_profile("/usr/local/bin/husk", text);
	assert_string_equal(text, shipped);
	(void)cli_apparmor_profile("/opt/husk/bin/husk", text);
	assert_non_null(
	    strstr(text, "\nprofile husk /opt/husk/bin/husk flags=(unconfined) {\n"));
	assert_null(strstr(text, "/usr/{local"));
}

static void written_once_and_loaded(void **state)
{
	struct cli_apparmor_done done;
	struct husk_error err;
	char text[CLI_APPARMOR_TEXT], wanted[CLI_APPARMOR_TEXT];
	struct stat st;

	(void)state;
	make_parser(0);
	assert_int_equal(put("/usr/bin/husk", true, &done, &err), 0);
	assert_true(done.wrote && !done.replaced);
	assert_string_equal(done.parser, parser);
	(void)cli_apparmor_profile("/usr/bin/husk", wanted);
	(void)read_text(profile, text);
	assert_string_equal(text, wanted);
	assert_int_equal(stat(profile, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	/* The second time there is nothing to write; the kernel may have lost it. */
	assert_int_equal(put("/usr/bin/husk", true, &done, &err), 0);
	assert_true(!done.wrote && !done.replaced);
	assert_string_equal(done.parser, parser);
	(void)read_text(note, text);
	(void)snprintf(wanted, sizeof(wanted), "2:-r:%s\n2:-r:%s\n", profile, profile);
	assert_string_equal(text, wanted);
	/* Husk has moved. */
	assert_int_equal(put("/opt/bin/husk", true, &done, &err), 0);
	assert_true(!done.wrote && done.replaced);
	(void)read_text(profile, text);
	assert_non_null(strstr(text, "profile husk /opt/bin/husk flags"));
}

static void loaded_only_where_that_can_be(void **state)
{
	struct cli_apparmor_done done;
	struct husk_error err;

	(void)state;
	assert_int_equal(put("/usr/bin/husk", true, &done, &err), 0);
	assert_true(done.wrote);
	assert_null(done.parser);
	make_parser(0);
	assert_int_equal(put("/usr/bin/husk", false, &done, &err), 0);
	assert_false(done.wrote);
	assert_null(done.parser);
	assert_int_equal(access(note, F_OK), -1);
}

static void what_cannot_be_loaded_is_taken_back(void **state)
{
	struct cli_apparmor_done done;
	struct husk_error err;
	char text[CLI_APPARMOR_TEXT], before[CLI_APPARMOR_TEXT];

	(void)state;
	make_parser(1);
	assert_int_equal(put("/usr/bin/husk", true, &done, &err), HUSK_E_SYSTEM);
	assert_non_null(strstr(err.message, "could not load"));
	assert_true(err.hint[0] != '\0');
	assert_int_equal(access(profile, F_OK), -1);
	(void)cli_apparmor_profile("/opt/bin/husk", before);
	write_text(profile, before, 0644);
	assert_int_equal(put("/usr/bin/husk", true, &done, &err), HUSK_E_SYSTEM);
	(void)read_text(profile, text);
	assert_string_equal(text, before);
}

static void what_others_wrote_stays(void **state)
{
	static const char *const others[] = {"profile husk /x {\n}\n", ""};
	struct cli_apparmor_done done;
	struct husk_error err;
	char text[CLI_APPARMOR_TEXT];

	(void)state;
	make_parser(0);
	for (size_t i = 0; i < 2; i++) {
		write_text(profile, others[i], 0600);
		assert_int_equal(put("/usr/bin/husk", true, &done, &err), HUSK_E_INVALID);
		assert_non_null(strstr(err.hint, "local/husk"));
		(void)read_text(profile, text);
		assert_string_equal(text, others[i]);
	}
	assert_int_equal(unlink(profile), 0);
	assert_int_equal(symlink("/etc/passwd", profile), 0);
	assert_int_equal(put("/usr/bin/husk", true, &done, &err), HUSK_E_SYSTEM);
	assert_int_equal(access(note, F_OK), -1);
}

/* Ours with a line added is somebody's. */
static void what_others_changed_stays(void **state)
{
	struct cli_apparmor_done done;
	struct husk_error err;
	char text[CLI_APPARMOR_TEXT], *at;

	(void)state;
	(void)cli_apparmor_profile("/opt/bin/husk", text);
	at = strstr(text, "  userns,");
	assert_non_null(at);
	memcpy(at, "  capable", 9);
	write_text(profile, text, 0644);
	assert_int_equal(put("/usr/bin/husk", true, &done, &err), HUSK_E_INVALID);
	(void)cli_apparmor_profile("/opt/a\nb", text);
	write_text(profile, text, 0644);
	assert_int_equal(put("/usr/bin/husk", true, &done, &err), HUSK_E_INVALID);
}

static void no_directory(void **state)
{
	const char *const parsers[] = {NULL};
	const struct cli_apparmor place = {"/usr/bin/husk", "/nonexistent/apparmor.d",
					   parsers, true};
	struct cli_apparmor_done done;
	struct husk_error err = {0};

	(void)state;
	assert_int_equal(cli_apparmor_put(&place, &done, &err), HUSK_E_SYSTEM);
	assert_non_null(strstr(err.hint, "not installed"));
}

/* A profile for a path that somebody else can change would be theirs to use. */
static void programs(void **state)
{
	char path[128];
	struct husk_error err = {0};

	(void)state;
	assert_int_equal(cli_apparmor_check("/usr/bin/env", &err), 0);
	assert_int_equal(cli_apparmor_check("/usr/bin", &err), HUSK_E_INVALID);
	assert_int_equal(cli_apparmor_check("usr/bin/env", &err), HUSK_E_INVALID);
	assert_int_equal(cli_apparmor_check("/usr/bin/*", &err), HUSK_E_INVALID);
	assert_int_equal(cli_apparmor_check("/usr/bin/a b", &err), HUSK_E_INVALID);
	assert_int_equal(cli_apparmor_check("/usr/bin/a\n}", &err), HUSK_E_INVALID);
	assert_int_equal(cli_apparmor_check("/nonexistent/husk", &err), HUSK_E_INVALID);
	assert_int_equal(cli_apparmor_check("/proc/self/exe", &err), HUSK_E_INVALID);
	/* /tmp is open to all, whatever the file is. */
	(void)snprintf(path, sizeof(path), "%s/husk", dir);
	write_text(path, "", 0755);
	assert_int_equal(cli_apparmor_check(path, &err), HUSK_E_INVALID);
	assert_non_null(strstr(err.message, "/tmp can be changed"));
	assert_true(err.hint[0] != '\0');
}

int main(void)
{
#define IN_A_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest cli_apparmor[] = {
	    cmocka_unit_test(the_text_is_the_one_that_comes_with_husk),
	    IN_A_DIRECTORY(written_once_and_loaded),
	    IN_A_DIRECTORY(loaded_only_where_that_can_be),
	    IN_A_DIRECTORY(what_cannot_be_loaded_is_taken_back),
	    IN_A_DIRECTORY(what_others_wrote_stays),
	    IN_A_DIRECTORY(what_others_changed_stays),
	    cmocka_unit_test(no_directory),
	    IN_A_DIRECTORY(programs),
	};

	return cmocka_run_group_tests(cli_apparmor, NULL, NULL);
}
