/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup/proc_text.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

/* A piece of a text. */
struct span {
	const char *at;
	size_t size;
};

static const char *const controller_names[] = {
    [CGROUP_MEMORY] = "memory",
    [CGROUP_CPU] = "cpu",
    [CGROUP_PIDS] = "pids",
    [CGROUP_CPUACCT] = "cpuacct",
};

const char *cgroup_controller_name(enum cgroup_controller controller)
{
	return controller_names[controller];
}

static bool span_is(struct span span, const char *text)
{
	return span.size == strlen(text) && memcmp(span.at, text, span.size) == 0;
}

/* The piece of *rest up to the next `by`, which is passed over. False at the end. */
static bool span_cut(struct span *rest, char by, struct span *ret)
{
	const char *stop;

	if (rest->size == 0)
		return false;
	stop = memchr(rest->at, by, rest->size);
	ret->at = rest->at;
	ret->size = stop ? (size_t)(stop - rest->at) : rest->size;
	rest->at += ret->size + (stop ? 1 : 0);
	rest->size -= ret->size + (stop ? 1 : 0);
	return true;
}

unsigned cgroup_controllers_in(const char *text, size_t size, char by)
{
	struct span rest = {text, size}, word;
	unsigned found = 0;

	if (size > 0 && text[size - 1] == '\n')
		rest.size--;
	while (span_cut(&rest, by, &word))
		for (int i = 0; i < CGROUP_CONTROLLERS; i++)
			if (span_is(word, controller_names[i]))
				found |= CGROUP_BIT(i);
	return found;
}

static int keep(char **ret, struct span span)
{
	free(*ret);
	*ret = strndup(span.at, span.size);
	return *ret ? 0 : -ENOMEM;
}

static int own_line(struct span line, struct cgroup_own *own)
{
	struct span number, names;
	unsigned found;

	if (!span_cut(&line, ':', &number) || !span_cut(&line, ':', &names) ||
	    line.size == 0 || line.at[0] != '/')
		return 0;
	if (names.size == 0)
		return span_is(number, "0") ? keep(&own->unified, line) : 0;
	found = cgroup_controllers_in(names.at, names.size, ',');
	for (int i = 0; i < CGROUP_CONTROLLERS; i++)
		if ((found & CGROUP_BIT(i)) && keep(&own->v1[i], line) < 0)
			return -ENOMEM;
	return 0;
}

int cgroup_own_parse(const char *text, struct cgroup_own *ret)
{
	struct span rest = {text, strlen(text)}, line;

	*ret = (struct cgroup_own){0};
	while (span_cut(&rest, '\n', &line))
		if (own_line(line, ret) < 0) {
			cgroup_own_deinit(ret);
			return -ENOMEM;
		}
	return 0;
}

void cgroup_own_deinit(struct cgroup_own *own)
{
	free(own->unified);
	for (int i = 0; i < CGROUP_CONTROLLERS; i++)
		free(own->v1[i]);
	*own = (struct cgroup_own){0};
}

/* The kernel writes space, tab, newline and backslash as \ and three octal digits. */
static char *unescape(struct span span)
{
	char *text = malloc(span.size + 1);
	size_t used = 0;

	if (!text)
		return NULL;
	for (size_t i = 0; i < span.size; i++) {
		const char *c = span.at + i;

		if (*c == '\\' && span.size - i > 3 && c[1] >= '0' && c[1] <= '3' &&
		    c[2] >= '0' && c[2] <= '7' && c[3] >= '0' && c[3] <= '7') {
			text[used++] =
			    (char)((c[1] - '0') * 64 + (c[2] - '0') * 8 + (c[3] - '0'));
			i += 3;
		} else {
			text[used++] = *c;
		}
	}
	text[used] = '\0';
	return text;
}

static bool parse_dev(struct span span, dev_t *ret)
{
	unsigned long parts[2];
	const char *at = span.at;
	char *end;

	for (int i = 0; i < 2; i++) {
		if (*at < '0' || *at > '9')
			return false;
		parts[i] = strtoul(at, &end, 10);
		at = end;
		if (i == 0 && *at++ != ':')
			return false;
	}
	*ret = makedev((unsigned)parts[0], (unsigned)parts[1]);
	return at == span.at + span.size;
}

static bool has_option(struct span options, const char *name)
{
	struct span word;

	while (span_cut(&options, ',', &word))
		if (span_is(word, name))
			return true;
	return false;
}

/*
 * id parent major:minor root point options [tag...] - type source super-options
 * Fields are parted by one space; spaces inside of them are escaped.
 */
enum { FIELD_DEV = 2, FIELD_ROOT, FIELD_POINT, FIELD_OPTIONS, FIELDS };
enum { AFTER_TYPE, AFTER_SOURCE, AFTER_OPTIONS, AFTERS };

static bool mount_fields(struct span line, struct span before[FIELDS],
			 struct span after[AFTERS])
{
	struct span word;

	for (int i = 0; i < FIELDS; i++)
		if (!span_cut(&line, ' ', &before[i]))
			return false;
	do {
		if (!span_cut(&line, ' ', &word))
			return false;
	} while (!span_is(word, "-"));
	for (int i = 0; i < AFTERS; i++)
		if (!span_cut(&line, ' ', &after[i]))
			return false;
	return true;
}

static int mounts_add(struct cgroup_mounts *mounts, const struct cgroup_mount *mount)
{
	struct cgroup_mount *list =
	    reallocarray(mounts->list, mounts->count + 1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	list[mounts->count++] = *mount;
	mounts->list = list;
	return 0;
}

static int mount_line(struct span line, struct cgroup_mounts *mounts)
{
	struct span before[FIELDS], after[AFTERS], options;
	struct cgroup_mount mount = {0};

	if (!mount_fields(line, before, after))
		return 0;
	mount.unified = span_is(after[AFTER_TYPE], "cgroup2");
	if (!mount.unified && !span_is(after[AFTER_TYPE], "cgroup"))
		return 0;
	if (!parse_dev(before[FIELD_DEV], &mount.dev))
		return 0;
	options = after[AFTER_OPTIONS];
	mount.read_only =
	    has_option(before[FIELD_OPTIONS], "ro") || has_option(options, "ro");
	if (!mount.unified) {
		mount.controllers = cgroup_controllers_in(options.at, options.size, ',');
		if (!mount.controllers)
			return 0;
	}
	mount.root = unescape(before[FIELD_ROOT]);
	mount.point = unescape(before[FIELD_POINT]);
	if (mount.root && mount.point && mounts_add(mounts, &mount) == 0)
		return 0;
	free(mount.root);
	free(mount.point);
	return -ENOMEM;
}

int cgroup_mounts_parse(const char *text, struct cgroup_mounts *ret)
{
	struct span rest = {text, strlen(text)}, line;

	*ret = (struct cgroup_mounts){0};
	while (span_cut(&rest, '\n', &line))
		if (mount_line(line, ret) < 0) {
			cgroup_mounts_deinit(ret);
			return -ENOMEM;
		}
	return 0;
}

void cgroup_mounts_deinit(struct cgroup_mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++) {
		free(mounts->list[i].root);
		free(mounts->list[i].point);
	}
	free(mounts->list);
	*mounts = (struct cgroup_mounts){0};
}

static bool leads_out(const char *path)
{
	struct span rest = {path, strlen(path)}, word;

	while (span_cut(&rest, '/', &word))
		if (span_is(word, ".."))
			return true;
	return false;
}

const char *cgroup_path_below(const char *root, const char *own)
{
	size_t size = strlen(root);

	if (root[0] != '/' || own[0] != '/' || leads_out(root) || leads_out(own))
		return NULL;
	if (size == 1)
		own += 1;
	else if (strncmp(root, own, size) != 0)
		return NULL;
	else if (own[size] == '/')
		own += size + 1;
	else
		own += size;
	/* Still below a "//": taken for a path it would begin at the host's root. And
	 * what begins with the root's name alone is another group. */
	if (own[0] == '/' || (size > 1 && own[0] != '\0' && own[-1] != '/'))
		return NULL;
	return own;
}

bool cgroup_number(const char *text, unsigned long long *ret)
{
	char *end;

	if (strcmp(text, "max\n") == 0 || strcmp(text, "max") == 0) {
		*ret = ULLONG_MAX;
		return true;
	}
	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	return errno == 0 && (*end == '\0' || strcmp(end, "\n") == 0);
}

bool cgroup_keyed_value(const char *text, const char *key, unsigned long long *ret)
{
	struct span rest = {text, strlen(text)}, line, word;

	while (span_cut(&rest, '\n', &line)) {
		if (!span_cut(&line, ' ', &word) || !span_is(word, key))
			continue;
		if (line.size == 0 || line.at[0] < '0' || line.at[0] > '9')
			return false;
		errno = 0;
		*ret = strtoull(line.at, NULL, 10);
		return errno == 0;
	}
	return false;
}
