/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/nearby.h"

#include "cli/suggest.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 64 };

/* The name without the version that many have at their end: python3.11, gcc-12. */
static void plain_name(const char *name, char plain[NAME_SIZE])
{
	size_t size = strlen(name);

	while (size > 1 && strchr("0123456789.-", name[size - 1]))
		size--;
	(void)snprintf(plain, NAME_SIZE, "%.*s", (int)size, name);
}

/* The nearest of one folder; of several with the same plain name the shortest. */
static void look_through(const char *folder, const char *typed, unsigned *distance,
			 char best[NAME_SIZE])
{
	const struct dirent *entry;
	DIR *dir = opendir(folder);

	while (dir && (entry = readdir(dir))) {
		struct cli_suggestion near = {.input = typed};
		char plain[NAME_SIZE];

		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= NAME_SIZE)
			continue;
		plain_name(entry->d_name, plain);
		cli_suggestion_offer(&near, plain);
		/* What begins with the typed letters is no slip among thousands. */
		if (!near.best || strlen(plain) > strlen(typed) + 1)
			continue;
		if (near.distance > *distance ||
		    (near.distance == *distance && strlen(entry->d_name) >= strlen(best)))
			continue;
		*distance = near.distance;
		memcpy(best, entry->d_name, strlen(entry->d_name) + 1);
	}
	if (dir)
		(void)closedir(dir);
}

bool cli_nearby_program(const char *name, char *hint, size_t size)
{
	static const char *const folders[] = {"/usr/bin", "/usr/sbin", "/usr/local/bin"};
	unsigned distance = ~0U;
	char best[NAME_SIZE] = "";

	if (strchr(name, '/'))
		return false;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		look_through(folders[i], name, &distance, best);
	if (best[0] == '\0')
		return false;
	(void)snprintf(hint, size, "did you mean %s?", best);
	return true;
}
