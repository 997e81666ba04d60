/* SPDX-License-Identifier: Apache-2.0 */
/* husk doctor: what this host can do for a box, as a table or as JSON. */
#include "cli/apparmor.h"
#include "cli/escape.h"
#include "cli/images.h"
#include "cli/json_memory.h"
#include "cli/say.h"
#include "cli/verbs.h"

#include <husk/host.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How a probe came out: the word for it and its colour on a terminal. */
static const struct state {
	const char *word;
	const char *colour;
} states[] = {
    [HUSK_PROBE_OK] = {"ok", "\x1b[32m"},
    [HUSK_PROBE_WEAKER] = {"weaker", "\x1b[33m"},
    [HUSK_PROBE_MISSING] = {"missing", "\x1b[31m"},
};

/* What a table needs to know about its rows. */
struct table {
	FILE *out;
	const husk_host *host;
	int name_width;
	bool colour;
};

/* Colours are for people who can see them and have not said no (https://no-color.org). */
static bool wants_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return (!no || no[0] == '\0') && term && strcmp(term, "dumb") != 0 &&
	       isatty(STDOUT_FILENO);
}

/* Text of the host, cut at a length that no probe reaches. */
static void put_text(FILE *out, const char *text, unsigned flags)
{
	char printed[8192];

	(void)cli_escape(printed, sizeof(printed), text, strlen(text), flags);
	(void)fputs(printed, out);
}

/* The name of an earlier row with the same remedy; NULL where there is none. */
static const char *same_remedy(const husk_host *host, size_t index)
{
	const char *remedy = husk_host_remedy(host, index);

	for (size_t i = 0; i < index; i++) {
		if (remedy[0] != '\0' && strcmp(husk_host_remedy(host, i), remedy) == 0)
			return husk_host_name(host, i);
	}
	return NULL;
}

/* A remedy may be several lines: each is indented. */
static void put_remedy(const struct table *table, size_t index)
{
	const char *remedy = husk_host_remedy(table->host, index);
	const char *same = same_remedy(table->host, index);
	char line[2048];

	if (same) {
		(void)fprintf(table->out, "  %*s  the remedy is that of %s\n",
			      table->name_width, "", same);
		return;
	}

	while (*remedy) {
		size_t size = strcspn(remedy, "\n");

		(void)cli_escape(line, sizeof(line), remedy, size, CLI_ESCAPE_LINES);
		(void)fprintf(table->out, "  %*s  %s\n", table->name_width, "", line);
		remedy += size;
		remedy += *remedy == '\n';
	}
}

static void put_row(const struct table *table, size_t index)
{
	const struct state *state = &states[husk_host_state(table->host, index)];
	int pad = 9 - (int)strlen(state->word);

	(void)fprintf(table->out, "  %-*s  %s%s%s%*s", table->name_width,
		      husk_host_name(table->host, index),
		      table->colour ? state->colour : "", state->word,
		      table->colour ? "\x1b[0m" : "", pad, "");
	put_text(table->out, husk_host_finding(table->host, index), 0);
	(void)fputc('\n', table->out);
	put_remedy(table, index);
}

static void put_table(FILE *out, const husk_host *host)
{
	struct table table = {out, host, 0, wants_colour()};
	size_t count = husk_host_count(host);

	for (size_t i = 0; i < count; i++) {
		int width = (int)strlen(husk_host_name(host, i));

		if (width > table.name_width)
			table.name_width = width;
	}
	for (size_t i = 0; i < count; i++)
		put_row(&table, i);
	(void)fprintf(out, "Level of protection: %s: ", husk_host_level(host));
	put_text(out, husk_host_summary(host), 0);
	(void)fputs(".\n", out);
}

/* JSON is UTF-8: a text that is not is escaped first. */
static json_t *json_of(const char *text)
{
	json_t *json = json_string(text);
	char printed[8192];

	if (json)
		return json;
	(void)cli_escape(printed, sizeof(printed), text, strlen(text), CLI_ESCAPE_LINES);
	return json_string(printed);
}

static json_t *probe_json(const husk_host *host, size_t index)
{
	const char *remedy = husk_host_remedy(host, index);

	return json_pack("{s:o, s:s, s:o, s:o}", "name",
			 json_of(husk_host_name(host, index)), "state",
			 states[husk_host_state(host, index)].word, "finding",
			 json_of(husk_host_finding(host, index)), "remedy",
			 remedy[0] != '\0' ? json_of(remedy) : json_null());
}

static int put_json(FILE *out, const husk_host *host)
{
	json_t *probes = json_array(), *root;
	char *text;
	int r = probes ? 0 : -1;

	for (size_t i = 0; i < husk_host_count(host) && r == 0; i++)
		r = json_array_append_new(probes, probe_json(host, i));
	root = r == 0
		   ? json_pack("{s:b, s:s, s:o, s:O}", "usable", husk_host_usable(host),
			       "level", husk_host_level(host), "summary",
			       json_of(husk_host_summary(host)), "probes", probes)
		   : NULL;
	text = root ? cli_json_dump(root, JSON_COMPACT) : NULL;
	r = text ? 0 : -1;
	(void)fprintf(out, "%s\n", text ? text : "");
	free(text);
	json_decref(root);
	json_decref(probes);
	return r;
}

static int print_host(const husk_host *host, bool json)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int r = out ? 0 : -1;

	if (out && json)
		r = put_json(out, host);
	else if (out)
		put_table(out, host);
	if (out && ferror(out))
		r = -1;
	if (out && fclose(out) != 0)
		r = -1;
	if (r < 0) {
		cli_say("doctor", "out of memory", NULL);
		r = CLI_EXIT_CANNOT;
	} else {
		r = cli_print(text, size);
	}
	free(text);
	return r;
}

int cli_doctor(struct cli_settings *settings, size_t count, char **words)
{
	struct husk_error err = {0};
	husk_host *host = NULL;
	HUSK_HOST_OPTIONS(options);
	int r;

	(void)count;
	(void)words;
	if (settings->install_apparmor && settings->json) {
		(void)cli_error(&err, "--install-apparmor", "cannot go with --json");
		return cli_say_usage(&err, "doctor");
	}
	if (settings->install_apparmor)
		return cli_apparmor_install();
	if (cli_images_finish(settings, &err) < 0)
		return cli_say_error(&err);
	options.store = settings->images.store;
	if (husk_host_probe_with(&options, &host, &err) < 0)
		return cli_say_error(&err);
	r = print_host(host, settings->json);
	if (r == CLI_EXIT_OK && !husk_host_usable(host))
		r = CLI_EXIT_NO;
	(void)husk_host_free(host);
	return r;
}
