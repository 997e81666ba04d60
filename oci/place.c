/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/place.h"

#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PASSWD_BYTES = 16384 };

static int home_of_user(char *ret, size_t capacity, struct husk_error *err)
{
	char text[PASSWD_BYTES];
	struct passwd entry, *found = NULL;
	int e = getpwuid_r(geteuid(), &entry, text, sizeof(text), &found);

	if (!found || found->pw_dir[0] != '/') {
		(void)error_set(err, HUSK_E_INVALID, "store",
				"the user %u has no home directory%s", geteuid(),
				e ? " that can be found out" : "");
		error_hint(err, "name the store: HUSK_STORE=DIR");
		return HUSK_E_INVALID;
	}
	if (strlen(found->pw_dir) >= capacity)
		return error_set(err, HUSK_E_INVALID, "store", "the home is too long");
	(void)snprintf(ret, capacity, "%s", found->pw_dir);
	return 0;
}

int place_own(const struct husk_image_options *options, char ret[PATH_MAX],
	      struct husk_error *err)
{
	char home[PATH_MAX / 2];
	int r;

	if (options->store) {
		if (options->store[0] != '/')
			return error_set(err, HUSK_E_INVALID, "store",
					 "\"%.100s\" is not an absolute path",
					 options->store);
		if (strlen(options->store) >= PATH_MAX)
			return error_set(err, HUSK_E_INVALID, "store",
					 "its path is too long");
		(void)snprintf(ret, PATH_MAX, "%s", options->store);
		return 0;
	}
	if (geteuid() == 0) {
		(void)snprintf(ret, PATH_MAX, "%s", PLACE_MACHINE);
		return 0;
	}
	r = home_of_user(home, sizeof(home), err);
	if (r == 0)
		(void)snprintf(ret, PATH_MAX, "%s/.local/share/husk", home);
	return r;
}

int place_absolute(const char *path, char ret[PATH_MAX], struct husk_error *err)
{
	char whole[2 * PATH_MAX];
	char *to = ret;
	int n;

	if (path[0] == '/') {
		n = snprintf(whole, sizeof(whole), "%s", path);
	} else {
		char here[PATH_MAX];

		if (!getcwd(here, sizeof(here)))
			return error_sys(err, errno, path,
					 "the working directory has no path");
		n = snprintf(whole, sizeof(whole), "%s/%s", here, path);
	}
	if (n < 0 || n >= PATH_MAX)
		return error_set(err, HUSK_E_INVALID, "path", "is too long");
	if (!utf8_valid(whole, (size_t)n)) /* it may become a name, which is UTF-8 */
		return error_set(err, HUSK_E_INVALID, "path",
				 "is not UTF-8, so no image can be named by it");
	for (const char *at = whole; *at != '\0';) {
		size_t size;

		at += strspn(at, "/");
		size = strcspn(at, "/");
		if (size > 0 && !(size == 1 && at[0] == '.')) {
			*to++ = '/';
			memcpy(to, at, size);
			to += size;
		}
		at += size;
	}
	if (to == ret)
		*to++ = '/';
	*to = '\0';
	return 0;
}

int places_init(struct places *places, const struct husk_image_options *options,
		struct husk_error *err)
{
	*places = (struct places){0};
	if (place_own(options, places->own, err) < 0)
		return HUSK_E_INVALID;
	places->machine = strcmp(places->own, PLACE_MACHINE) == 0 ? NULL : PLACE_MACHINE;
	return 0;
}

void places_close(struct places *places)
{
	for (size_t i = 0; i < PLACES; i++) {
		if (places->stores[i])
			places->stores[i] = store_close(places->stores[i]);
		places->tried[i] = false;
	}
	places->damaged = NULL;
}

int places_store(struct places *places, size_t which, struct store **ret,
		 struct husk_error *err)
{
	const char *path = which == 0 ? places->own : places->machine;
	struct stat st;
	int r;

	*ret = places->stores[which];
	if (places->tried[which] || !path)
		return 0;
	if (fstatat(AT_FDCWD, path, &st, 0) < 0 &&
	    (errno == ENOENT || errno == ENOTDIR)) {
		places->tried[which] = true;
		return 0;
	}
	r = store_open(path, STORE_READ, &places->stores[which], which == 0 ? err : NULL);
	if (r < 0 && which == 0)
		return r;
	places->tried[which] = true;
	*ret = places->stores[which];
	return 0;
}
