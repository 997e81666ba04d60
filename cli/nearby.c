/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/nearby.h"

#include "cli/suggest.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { NAME_SIZE = 64, FAR = 1000 };

/* The name without the version that many have at their end: python3.11, gcc-12. */
static void plain_name(const char *name, char plain[NAME_SIZE])
{
	size_t size = strlen(name);

	while (size > 1 && strchr("0123456789.-", name[size - 1]))
		size--;
	(void)snprintf(plain, NAME_SIZE, "%.*s", (int)size, name);
}

/* Are the two the same but for neighbours that changed places? */
static bool is_swapped(const char *typed, const char *name)
{
	size_t i = 0;

	while (typed[i] && typed[i] == name[i])
		i++;
	return typed[i] && typed[i + 1] && typed[i] == name[i + 1] &&
	       typed[i + 1] == name[i] && strcmp(typed + i + 2, name + i + 2) == 0;
}

/* Among thousands of names there is one near to anything short: what counts there is a
 * letter too many, too few or in the wrong place, between the first and the last. */
static bool is_silly(const char *typed, const char *name)
{
	size_t size = strlen(typed), other = strlen(name);

	/* What begins with the typed letters is no slip either. */
	if (other > size + 1)
		return true;
	if (size > 4 || is_swapped(typed, name))
		return false;
	if (typed[0] != name[0])
		return true;
	return size <= 3 && (size == other || typed[size - 1] != name[other - 1]);
}

/* How far the name is from what was typed, with a swap nearer than other slips. */
static unsigned distance_of(const char *typed, const char *name)
{
	struct cli_suggestion near = {.input = typed};

	cli_suggestion_offer(&near, name);
	if (!near.best || (near.distance > 0 && is_silly(typed, name)))
		return FAR;
	return 2 * near.distance + (near.distance > 0 && !is_swapped(typed, name));
}

/* The nearest of one folder; of several with the same plain name the shortest. */
static void look_through(const char *folder, const char *typed, unsigned *distance,
			 char best[NAME_SIZE])
{
	const struct dirent *entry;
	DIR *dir = opendir(folder);

	while (dir && (entry = readdir(dir))) {
		char plain[NAME_SIZE];
		unsigned near, own;

		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= NAME_SIZE)
			continue;
		plain_name(entry->d_name, plain);
		near = distance_of(typed, plain);
		own = distance_of(typed, entry->d_name);
		near = own < near ? own : near;
		if (near >= FAR || near > *distance ||
		    (near == *distance && strlen(entry->d_name) >= strlen(best)))
			continue;
		*distance = near;
		memcpy(best, entry->d_name, strlen(entry->d_name) + 1);
	}
	if (dir)
		(void)closedir(dir);
}

bool cli_nearby_program(const char *name, char *hint, size_t size)
{
	static const char *const folders[] = {"/usr/bin", "/usr/sbin", "/usr/local/bin"};
	unsigned distance = FAR;
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
