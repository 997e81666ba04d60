/* SPDX-License-Identifier: Apache-2.0 */
/* JSON profiles: what good ones do, by the evaluator, and how bad ones are refused.
 * Single quotes stand for double ones in the profiles below. */
#include "tests/unit/seccomp_evaluate.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char *quoted(const char *text)
{
	char *copy = strdup(text);

	assert_non_null(copy);
	for (char *c = copy; *c; c++) {
		if (*c == '\'')
			*c = '"';
	}
	return copy;
}

static struct seccomp_program good(const char *text)
{
	struct seccomp_program program = {0};
	struct husk_error err = {0};
	char *json = quoted(text);
	int rc = seccomp_profile_parse(json, strlen(json), "p.json", &program, &err);

	free(json);
	if (rc != 0)
		fail_msg("%s: %s", err.where, err.message);
	assert_non_null(program.insns);
	return program;
}

static void bad_as(const char *text, int code, const char *message)
{
	struct seccomp_program program = {0};
	struct husk_error err = {0};
	char *json = quoted(text);

	assert_int_equal(
	    seccomp_profile_parse(json, strlen(json), "p.json", &program, &err), code);
	free(json);
	assert_null(program.insns);
	assert_int_equal(err.code, code);
	assert_string_equal(err.where, "p.json");
	if (!strstr(err.message, message))
		fail_msg("\"%s\" is not in \"%s\"", message, err.message);
	assert_null(strchr(err.message, '\n'));
}

static void bad(const char *text, const char *message)
{
	bad_as(text, HUSK_E_INVALID, message);
}

/* A profile with one entry, for what can be wrong inside. */
#define ENTRY(inside) "{'defaultAction': 'SCMP_ACT_ALLOW', 'syscalls': [{" inside "}]}"
#define ARG(inside) \
	ENTRY("'names': ['read'], 'action': 'SCMP_ACT_ERRNO', 'args': [{" inside "}]")

static void what_is_not_json_is_refused(void **state)
{
	(void)state;
	bad("", "line 1: is not JSON");
	bad("{", "is not JSON");
	bad("\n\n{'a' 1}", "line 3: is not JSON");
	bad("{'defaultAction': 'SCMP_ACT_ALLOW'} x", "is not JSON");
	bad("{'defaultAction': 'SCMP_ACT_ALLOW', 'defaultAction': 'SCMP_ACT_KILL'}",
	    "duplicate");
	bad("[]", "must be an object");
	bad("'SCMP_ACT_ALLOW'", "is not JSON");
	bad("{'defaultAction': 'SCMP_ACT_\\u0000'}", "is not JSON");
}

static void the_top_is_checked(void **state)
{
	(void)state;
	bad("{'defaultAction': 'SCMP_ACT_ALLOW', 'flags': ['SECCOMP_FILTER_FLAG_X']}",
	    "flags: \"SECCOMP_FILTER_FLAG_X\" is not a flag");
	bad("{}", "defaultAction: is missing");
	bad("{'defaultAction': null}", "defaultAction: is missing");
	bad("{'defaultAction': 1}", "defaultAction: must be a string");
	bad("{'defaultAction': 'SCMP_ACT_PERHAPS'}",
	    "\"SCMP_ACT_PERHAPS\" is not an action");
	bad("{'defaultAction': 'SCMP_ACT_ALLOW', 'syscall': []}",
	    "syscall: is not a key that husk knows");
	bad("{'defaultAction': 'SCMP_ACT_ALLOW', 'syscalls': {}}",
	    "syscalls: must be a list");
	bad("{'defaultAction': 'SCMP_ACT_ALLOW', 'syscalls': [1]}",
	    "syscalls[0]: must be an object");
	bad("{'defaultAction': 'SCMP_ACT_ALLOW', 'defaultErrnoRet': 1}",
	    "defaultErrnoRet: has no meaning with SCMP_ACT_ALLOW");
	bad("{'defaultAction': 'SCMP_ACT_ERRNO', 'defaultErrnoRet': 4096}",
	    "defaultErrnoRet: is more than 4095");
	bad("{'defaultAction': 'SCMP_ACT_ERRNO', 'defaultErrnoRet': -1}",
	    "defaultErrnoRet: must be a whole number");
	bad("{'defaultAction': 'SCMP_ACT_ERRNO', 'defaultErrnoRet': 1.0}",
	    "defaultErrnoRet: must be a whole number");
	bad("{'defaultAction': 'SCMP_ACT_ERRNO', 'defaultErrno': 'EWHAT'}",
	    "defaultErrno: \"EWHAT\" is not an error's name");
	bad("{'defaultAction': 'SCMP_ACT_ERRNO', 'defaultErrno': 'EPERM', "
	    "'defaultErrnoRet': 38}",
	    "defaultErrno: contradicts defaultErrnoRet");
	bad("{'defaultAction': 'SCMP_ACT_ALLOW', 'architectures': ['x86_64']}",
	    "architectures: \"x86_64\" is not an architecture");
	bad("{'defaultAction': 'SCMP_ACT_ALLOW', 'architectures': ['SCMP_ARCH_X86'],"
	    "'archMap': [{'architecture': 'SCMP_ARCH_X86_64'}]}",
	    "archMap: stands beside architectures");
	bad("{'defaultAction': 'SCMP_ACT_ALLOW', 'archMap': [{}]}",
	    "archMap[0].architecture: is missing");
}

static void entries_are_checked(void **state)
{
	(void)state;
	bad(ENTRY(""), "syscalls[0].action: is missing");
	bad(ENTRY("'action': 'SCMP_ACT_KILL'"), "syscalls[0].names: is missing or empty");
	bad(ENTRY("'action': 'SCMP_ACT_KILL', 'names': []"),
	    "names: is missing or empty");
	bad(ENTRY("'action': 'SCMP_ACT_KILL', 'names': ['read', 7]"),
	    "syscalls[0].names: must be a list of strings");
	bad(ENTRY("'action': 'SCMP_ACT_KILL', 'names': ['read'], 'name': 'write'"),
	    "syscalls[0].name: stands beside names");
	bad(ENTRY("'action': 'SCMP_ACT_KILL', 'names': ['read'], 'errnoRet': 1"),
	    "syscalls[0].errnoRet: has no meaning with SCMP_ACT_KILL");
	bad(ENTRY("'action': 'SCMP_ACT_ERRNO', 'names': ['read'], 'arg': []"),
	    "syscalls[0].arg: is not a key");
	bad(ENTRY("'action': 'SCMP_ACT_ERRNO', 'names': ['read'], 'includes': "
		  "{'minKernel': '4'}"),
	    "syscalls[0].includes.minKernel: \"4\" is not a version");
	bad(ENTRY("'action': 'SCMP_ACT_ERRNO', 'names': ['read'], 'excludes': "
		  "{'minKernel': '4.8-x'}"),
	    "syscalls[0].excludes.minKernel");
	bad(ENTRY(
		"'action': 'SCMP_ACT_ERRNO', 'names': ['read'], 'excludes': {'cap': []}"),
	    "syscalls[0].excludes.cap: is not a key");
	/* Checked although it would not apply here. */
	bad(ENTRY(
		"'action': 'SCMP_ACT_X', 'names': ['read'], 'includes': {'caps': ['C']}"),
	    "syscalls[0].action");
}

static void arguments_are_checked(void **state)
{
	(void)state;
	bad(ARG("'index': 6, 'value': 0, 'op': 'SCMP_CMP_EQ'"),
	    "syscalls[0].args[0].index: must be 0 to 5");
	bad(ARG("'index': -1, 'value': 0, 'op': 'SCMP_CMP_EQ'"),
	    "index: must be a whole");
	bad(ARG("'index': 0, 'value': 0"), "syscalls[0].args[0].op: is missing");
	bad(ARG("'index': 0, 'op': 'SCMP_CMP_EQ'"), "value: is missing");
	bad(ARG("'index': 0, 'value': 0, 'op': 'SCMP_CMP_LIKE'"),
	    "\"SCMP_CMP_LIKE\" is not an operator");
	bad(ARG("'index': 0, 'value': 0, 'op': 'SCMP_CMP_EQ', 'valueTwo': 1"),
	    "valueTwo: has no meaning with SCMP_CMP_EQ");
	bad(ARG("'index': 0, 'value': 1, 'op': 'SCMP_CMP_MASKED_EQ', 'valueTwo': 2"),
	    "valueTwo: has bits");
	bad(ARG("'index': 0, 'value': 99999999999999999999, 'op': 'SCMP_CMP_EQ'"),
	    "is not JSON");
	bad(ARG("'index': 0, 'value': 1, 'op': 'SCMP_CMP_EQ'}, "
		"{'index': 0, 'value': 2, 'op': 'SCMP_CMP_EQ'"),
	    "syscalls[0].args[1].index: tests argument 0 twice");
}

static void bad_with_hint(const char *text, const char *message)
{
	struct seccomp_program program = {0};
	struct husk_error err = {0};
	char *json = quoted(text);

	assert_int_equal(
	    seccomp_profile_parse(json, strlen(json), "p.json", &program, &err),
	    HUSK_E_INVALID);
	free(json);
	if (!strstr(err.message, message))
		fail_msg("\"%s\" is not in \"%s\"", message, err.message);
	assert_true(strlen(err.hint) > 10);
}

static void agents_outside_the_box_are_refused(void **state)
{
	(void)state;
	bad_with_hint("{'defaultAction': 'SCMP_ACT_NOTIFY'}", "agent outside the box");
	bad_with_hint(ENTRY("'names': ['mount'], 'action': 'SCMP_ACT_NOTIFY'"),
		      "syscalls[0].action: SCMP_ACT_NOTIFY");
	bad_with_hint(ENTRY("'names': ['mount'], 'action': 'SCMP_ACT_TRACE'"), "tracer");
	bad_with_hint("{'defaultAction': 'SCMP_ACT_ALLOW', 'listenerPath': '/run/agent'}",
		      "listenerPath");
}

/* Text from a profile reaches a terminal through a message. */
static void messages_carry_no_control_characters(void **state)
{
	struct seccomp_program program = {0};
	struct husk_error err = {0};
	static const char *const texts[] = {
	    "{\"defaultAction\": \"\\u001b]0;x\\u0007\\n\"}",
	    "{\"\\u001b]0;x\\u0007\\n\": 1}",
	    "\x1b]0;\x07",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(seccomp_profile_parse(texts[i], strlen(texts[i]), "p",
						       &program, &err),
				 HUSK_E_INVALID);
		for (const char *c = err.message; *c; c++)
			assert_true((unsigned char)*c >= ' ' && *c != 0x7f);
	}
}

/* -- bounds -- */

static void nesting_is_bounded(void **state)
{
	struct seccomp_program program;
	char text[4096];
	size_t n = 0;

	(void)state;
	n = (size_t)snprintf(text, sizeof(text),
			     "{'defaultAction': 'SCMP_ACT_ALLOW', "
			     "'comment': ");
	memset(text + n, '[', 2000);
	text[n + 2000] = '\0';
	bad(text, "nested more than 16");
	/* Brackets in a string nest nothing. */
	(void)snprintf(text, sizeof(text),
		       "{'defaultAction': 'SCMP_ACT_ALLOW', 'comment': "
		       "'\\\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[['}");
	program = good(text);
	seccomp_program_deinit(&program);
}

static char *repeated(const char *head, const char *unit, size_t times, const char *tail)
{
	const size_t head_size = strlen(head), unit_size = strlen(unit);
	const size_t tail_at = head_size + times * unit_size;
	char *text = malloc(tail_at + strlen(tail) + 1);

	assert_non_null(text);
	memcpy(text, head, head_size);
	for (size_t i = 0; i < times; i++)
		memcpy(text + head_size + i * unit_size, unit, unit_size);
	memcpy(text + tail_at, tail, strlen(tail) + 1);
	return text;
}

static void size_and_rules_are_bounded(void **state)
{
	char *text =
	    repeated("{'defaultAction': 'SCMP_ACT_ALLOW'", " ", 1024 * 1024, "}");

	(void)state;
	bad_as(text, HUSK_E_TOO_BIG, "larger than");
	free(text);
	text = repeated("{'defaultAction': 'SCMP_ACT_ALLOW', 'syscalls': [{'action': "
			"'SCMP_ACT_KILL', 'names': ['read'",
			", 'read'", 20000, "]}]}");
	bad_as(text, HUSK_E_TOO_BIG, "more than 16384 rules");
	free(text);
}

/* -- files -- */

static void load_bad(const char *path, int code)
{
	struct seccomp_program program = {0};
	struct husk_error err = {0};

	assert_int_equal(seccomp_profile_load(path, &program, &err), code);
	assert_string_equal(err.where, path);
	assert_null(program.insns);
	assert_int_equal(seccomp_profile_load(path, &program, NULL), code);
}

static void files_are_opened_safely(void **state)
{
	char dir[] = P_tmpdir "/seccomp-test-XXXXXX", path[64];
	struct seccomp_program program = {0};
	struct husk_error err = {0};
	const char text[] = "{\"defaultAction\": \"SCMP_ACT_ALLOW\"}";
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/p", dir);
	load_bad(path, HUSK_E_SYSTEM);
	load_bad(dir, HUSK_E_INVALID);
	load_bad("/dev/null", HUSK_E_INVALID);
	/* A FIFO that nobody writes to: the call must come back. */
	assert_int_equal(mkfifo(path, 0600), 0);
	load_bad(path, HUSK_E_INVALID);
	assert_int_equal(unlink(path), 0);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	load_bad(path, HUSK_E_INVALID); /* empty */
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	assert_int_equal(seccomp_profile_load(path, &program, &err), 0);
	assert_true(program.count > 0);
	seccomp_program_deinit(&program);
	assert_int_equal(ftruncate(fd, 3 * 1024 * 1024), 0);
	load_bad(path, HUSK_E_TOO_BIG);
	(void)close(fd);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_not_json_is_refused),
	    cmocka_unit_test(the_top_is_checked),
	    cmocka_unit_test(entries_are_checked),
	    cmocka_unit_test(arguments_are_checked),
	    cmocka_unit_test(agents_outside_the_box_are_refused),
	    cmocka_unit_test(messages_carry_no_control_characters),
	    cmocka_unit_test(nesting_is_bounded),
	    cmocka_unit_test(size_and_rules_are_bounded),
	    cmocka_unit_test(files_are_opened_safely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
