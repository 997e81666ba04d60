/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/challenge.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* One challenge while it is read. */
struct reading {
	bool bearer, basic;
	struct challenges found;
};

struct word {
	const char *text;
	size_t size;
};

void challenges_deinit(struct challenges *challenges)
{
	free(challenges->realm);
	free(challenges->service);
	free(challenges->scope);
	free(challenges->error);
	*challenges = (struct challenges){0};
}

static bool token_char(char c)
{
	return isalnum((unsigned char)c) || (c != '\0' && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is(struct word word, const char *wanted)
{
	return word.size == strlen(wanted) &&
	       strncasecmp(word.text, wanted, word.size) == 0;
}

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

static struct word take_token(const char **at)
{
	struct word word = {.text = *at};

	while (token_char((*at)[0])) {
		(*at)++;
		word.size++;
	}
	return word;
}

/* Past the next comma outside of quotes. */
static const char *skip_item(const char *at)
{
	bool quoted = false;

	for (; *at && (quoted || *at != ','); at++) {
		if (*at == '"')
			quoted = !quoted;
		else if (quoted && *at == '\\' && at[1])
			at++;
	}
	return at;
}

/* A quoted string at *at, without its escapes; heap. -EINVAL: it does not end. */
static int take_quoted(const char **at, char **ret)
{
	const char *from = *at + 1;
	char *text = malloc(strlen(from) + 1);
	size_t size = 0;

	if (!text)
		return -ENOMEM;
	for (; *from && *from != '"'; from++) {
		if (*from == '\\' && from[1])
			from++;
		text[size++] = *from;
	}
	if (*from != '"') {
		free(text);
		return -EINVAL;
	}
	text[size] = '\0';
	*at = from + 1;
	*ret = text;
	return 0;
}

static int take_value(const char **at, char **ret)
{
	const char *from;

	if ((*at)[0] == '"')
		return take_quoted(at, ret);
	/* Servers leave quotes out where they may not: a value is all up to a comma. */
	from = *at;
	while ((*at)[0] > ' ' && (*at)[0] != ',' && (*at)[0] != '"')
		(*at)++;
	if (*at == from)
		return -EINVAL;
	*ret = strndup(from, (size_t)(*at - from));
	return *ret ? 0 : -ENOMEM;
}

static char **member(struct challenges *found, struct word name)
{
	if (is(name, "realm"))
		return &found->realm;
	if (is(name, "service"))
		return &found->service;
	if (is(name, "scope"))
		return &found->scope;
	return is(name, "error") ? &found->error : NULL;
}

/* A parameter whose "=" is at *at. */
static int take_parameter(struct reading *reading, struct word name, const char **at)
{
	char *value = NULL, **to = member(&reading->found, name);
	int rc;

	*at = skip_blanks(*at + 1);
	rc = take_value(at, &value);
	if (rc < 0)
		return rc;
	if (to && !*to)
		*to = value;
	else
		free(value);
	return 0;
}

/* The challenge that was being read is complete. */
static void close_reading(struct reading *reading, struct challenges *challenges)
{
	if (reading->basic)
		challenges->basic = true;
	if (reading->bearer && reading->found.realm && !challenges->bearer) {
		reading->found.basic = challenges->basic;
		reading->found.bearer = true;
		*challenges = reading->found;
		reading->found = (struct challenges){0};
	}
	challenges_deinit(&reading->found);
	*reading = (struct reading){0};
}

/* Credentials-like text of a scheme without parameters (token68); NULL: it is none. */
static const char *skip_token68(const char *at)
{
	const char *from = at;

	while (isalnum((unsigned char)*at) || (*at && strchr("-._~+/", *at)))
		at++;
	if (at == from)
		return NULL;
	at = skip_blanks(at + strspn(at, "="));
	return *at == ',' || *at == '\0' ? at : NULL;
}

/* One item between commas: "scheme", "scheme name=value", "scheme token68" or
 * "name=value". */
static int take_item(struct reading *reading, struct challenges *challenges,
		     const char **at)
{
	struct word word = take_token(at);
	const char *after;

	if (word.size == 0)
		return -EINVAL;
	*at = skip_blanks(*at);
	if ((*at)[0] == '=')
		return take_parameter(reading, word, at);
	close_reading(reading, challenges);
	reading->bearer = is(word, "bearer");
	reading->basic = is(word, "basic");
	after = skip_token68(*at);
	if (after || (*at)[0] == ',' || (*at)[0] == '\0') {
		*at = after ? after : *at;
		return 0;
	}
	word = take_token(at);
	*at = skip_blanks(*at);
	if (word.size == 0 || (*at)[0] != '=')
		return -EINVAL;
	return take_parameter(reading, word, at);
}

int challenges_add(struct challenges *challenges, const char *value)
{
	struct reading reading = {0};
	const char *at = value;
	int rc = 0;

	while (rc != -ENOMEM) {
		at += strspn(at, " \t,");
		if (*at == '\0')
			break;
		rc = take_item(&reading, challenges, &at);
		at = skip_item(skip_blanks(at));
	}
	close_reading(&reading, challenges);
	return rc == -ENOMEM ? rc : 0;
}
