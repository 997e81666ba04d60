/* SPDX-License-Identifier: Apache-2.0 */
/* The man pages and the tables say the same. Run from the top of the tree. */
#include "cli/options.h"
#include "cli/verbs.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "docs/man/"

/* The whole page. */
static char *page(const char *name)
{
	static char text[65536];
	char path[64];
	size_t size;
	FILE *file;

	(void)snprintf(path, sizeof(path), FOLDER "%s", name);
	file = fopen(path, "re");
	assert_non_null(file);
	size = fread(text, 1, sizeof(text) - 1, file);
	assert_int_equal(fclose(file), 0);
	assert_true(size > 500 && size < sizeof(text) - 1);
	text[size] = '\0';
	return text;
}

/* The macros of an argument fold away: "SIZE Ns | Ns Cm none" is SIZE|none. */
static void plain_argument(const char *macros, char *plain, size_t capacity)
{
	static const char *const macro_names[] = {"Ar", "Cm", "Ns", "Op"};
	bool optional = false;
	size_t used = 0;

	while (*macros && *macros != '\n') {
		size_t size = strcspn(macros, " \n");
		bool skip = false;

		for (size_t i = 0; i < sizeof(macro_names) / sizeof(macro_names[0]); i++)
			skip = skip ||
			       (size == 2 && strncmp(macros, macro_names[i], 2) == 0);
		if (skip && strncmp(macros, "Op", 2) == 0) {
			plain[used++] = '[';
			optional = true;
		}
		assert_true(used + size + 2 < capacity);
		if (!skip) {
			memcpy(plain + used, macros, size);
			used += size;
		}
		macros += size;
		macros += *macros == ' ';
	}
	if (optional)
		plain[used++] = ']';
	plain[used] = '\0';
}

/* The line of a list that begins with this option, as it has to be. */
static const char *item(const char *text, const struct cli_option *option)
{
	char start[64];
	const char *found;

	if (option->letter)
		(void)snprintf(start, sizeof(start), "\n.It Fl %c , Fl -%s",
			       option->letter, option->name);
	else
		(void)snprintf(start, sizeof(start), "\n.It Fl -%s", option->name);
	found = strstr(text, start);
	while (found && !isspace((unsigned char)found[strlen(start)]))
		found = strstr(found + 1, start);
	return found ? found + strlen(start) : NULL;
}

static size_t count_items(const char *text)
{
	size_t count = 0;

	while ((text = strstr(text, "\n.It Fl "))) {
		count++;
		text++;
	}
	return count;
}

/* Every option of `verbs` is in the page once, with its argument and its default, and the
 * page has no other option. */
static void assert_page(const char *name, unsigned verbs, unsigned others)
{
	size_t count, expected = 0;
	const struct cli_option *options = cli_options(&count);
	const char *text = page(name);

	for (size_t i = 0; i < count; i++) {
		const struct cli_option *option = &options[i];
		const char *standard = cli_option_standard(option, verbs);
		char argument[128], words[64];
		const char *at;

		if (!(option->verbs & verbs) || (option->verbs & others))
			continue;
		expected++;
		at = item(text, option);
		if (!at)
			print_error("%s lacks --%s\n", name, option->name);
		assert_non_null(at);
		assert_null(item(at, option));
		plain_argument(at + (*at == ' '), argument, sizeof(argument));
		assert_string_equal(argument, option->argument ? option->argument : "");
		(void)snprintf(words, sizeof(words), "The default is %s.\n",
			       standard ? standard : "");
		if (standard && isdigit((unsigned char)standard[0])) {
			at = strstr(at, words);
			assert_non_null(at);
		}
	}
	assert_true(expected > 0);
	assert_int_equal(count_items(text), expected);
}

static void test_options(void **state)
{
	(void)state;
	assert_page("husk-run.1", CLI_VERB_RUN, 0);
	/* The page says that the rest is as for run. */
	assert_page("husk-code.1", CLI_VERB_CODE, CLI_VERB_RUN);
	assert_page("husk-doctor.1", CLI_VERB_DOCTOR, 0);
	assert_page("husk-mcp.1", CLI_VERB_MCP, 0);
	assert_page("husk-shell.1", CLI_VERB_SHELL, 0);
	assert_page("husk-gc.1", CLI_VERB_GC, 0);
	assert_page("husk-completion.1", CLI_VERB_COMPLETION, 0);
	assert_page("husk-config.1", CLI_VERB_CONFIG | CLI_VERB_CONFIG_SHOW, 0);
	assert_page("husk-ps.1", CLI_VERB_PS, 0);
	assert_page("husk-setup.1", CLI_VERB_SETUP, 0);
	assert_page("husk-help.1", CLI_VERB_HELP, 0);
	assert_page("husk-version.1", CLI_VERB_VERSION, 0);
	assert_page("husk-stop.1", CLI_VERB_STOP, 0);
	assert_page("husk-pull.1", CLI_VERB_PULL, 0);
	assert_page("husk-image.1",
		    CLI_VERB_IMAGE | CLI_VERB_IMAGE_EXPORT | CLI_VERB_IMAGE_IMPORT |
			CLI_VERB_IMAGE_INSPECT | CLI_VERB_IMAGE_LS |
			CLI_VERB_IMAGE_PRUNE | CLI_VERB_IMAGE_RM,
		    0);
}

/* husk(1) has a line for each command, with the words of its table. */
static void test_commands(void **state)
{
	size_t count;
	const struct cli_verb *verbs = cli_verbs(&count);
	const char *text = page("husk.1");

	(void)state;
	for (size_t i = 0; i < count; i++) {
		char line[64];
		const char *at;

		(void)snprintf(line, sizeof(line), "\n.It Cm %s", verbs[i].name);
		at = strstr(text, line);
		assert_non_null(at);
		at = strchr(at + 1, '\n') + 1;
		assert_int_equal(strncmp(at, verbs[i].summary, strlen(verbs[i].summary)),
				 0);
		text = at; /* in the order of the table */
	}
}

/* Every command has a page of its own, which husk(1) names. */
static void test_every_command_has_a_page(void **state)
{
	size_t count;
	const struct cli_verb *verbs = cli_verbs(&count);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		char name[64], line[64];

		(void)snprintf(line, sizeof(line), "\n.Xr husk-%s 1", verbs[i].name);
		assert_non_null(strstr(page("husk.1"), line));
		(void)snprintf(name, sizeof(name), "husk-%s.1", verbs[i].name);
		(void)snprintf(line, sizeof(line), ".Nm husk-%s\n.Nd ", verbs[i].name);
		assert_non_null(strstr(page(name), line));
		assert_non_null(strstr(page(name), "\n.Sh EXIT STATUS\n"));
	}
}

/* The exit codes of a table: what begins its lines. */
static void assert_codes(const char *name, const char *status)
{
	const char *text = page(name);

	while (*status) {
		char code[32], line[64];
		const char *stop = strstr(status, "  ");

		assert_non_null(stop);
		(void)snprintf(code, sizeof(code), "%.*s", (int)(stop - status), status);
		if (strcmp(code, "N") == 0)
			(void)snprintf(line, sizeof(line), "\n.It Ar N\n");
		else
			(void)snprintf(line, sizeof(line), "\n.It %s\n", code);
		assert_non_null(strstr(text, line));
		status = strchr(status, '\n') + 1;
	}
}

static void test_exit_codes(void **state)
{
	const struct cli_verb *verb = NULL;
	struct husk_error err = {0};

	(void)state;
	assert_int_equal(cli_verb_find("run", &verb, &err), 0);
	assert_codes("husk-run.1", verb->status);
	assert_int_equal(cli_verb_find("doctor", &verb, &err), 0);
	assert_codes("husk-doctor.1", verb->status);
	assert_int_equal(cli_verb_find("mcp", &verb, &err), 0);
	assert_codes("husk-mcp.1", verb->status);
	assert_int_equal(cli_verb_find("shell", &verb, &err), 0);
	assert_codes("husk-shell.1", verb->status);
	assert_int_equal(cli_verb_find("pull", &verb, &err), 0);
	assert_codes("husk-pull.1", verb->status);
}

static void test_examples(void **state)
{
	static const char *const names[] = {"run", "code", "doctor", "pull"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct cli_verb *verb = NULL;
		struct husk_error err = {0};
		char file[64];

		assert_int_equal(cli_verb_find(names[i], &verb, &err), 0);
		(void)snprintf(file, sizeof(file), "husk-%s.1", names[i]);
		assert_non_null(strstr(page(file), verb->example));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_commands),
	    cmocka_unit_test(test_every_command_has_a_page),
	    cmocka_unit_test(test_exit_codes),
	    cmocka_unit_test(test_examples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
