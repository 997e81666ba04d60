/* SPDX-License-Identifier: Apache-2.0 */
#include "session/mount_check.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "session/settings.h"

enum { PASSWD_TEXT = 4096 };

/* The caller's home by the account file itself; no name service is asked, since that
 * would load code into the caller's program. *ret stays NULL where it is not known. */
static int home_of_caller(char **ret, struct husk_error *err)
{
	FILE *file = fopen("/etc/passwd", "re");
	char text[PASSWD_TEXT], *home = NULL;
	struct passwd entry = {0}, *found;
	int r = 0;

	if (!file && (errno == ENOENT || errno == EACCES))
		return 0;
	if (!file)
		return error_sys(err, errno, "mounts", "cannot read /etc/passwd");
	while (r == 0 && !home &&
	       fgetpwent_r(file, &entry, text, sizeof(text), &found) == 0) {
		if (found->pw_uid != geteuid())
			continue;
		home = strdup(found->pw_dir);
		if (!home)
			r = error_oom(err, "mounts");
	}
	(void)fclose(file);
	*ret = home;
	return r;
}

/* What of husk's own lies below a home: stores of images, setups that are kept, and the
 * configuration. A box that could write there would write into the boxes of others, and
 * say what they may do. */
static int check_home(const struct source *source, const char *home,
		      struct husk_error *err)
{
	CLEANUP_FREE char *store = NULL, *cache = NULL, *config = NULL;
	const char *own[4] = {NULL};

	if (home && home[0] == '/') {
		if (asprintf(&store, "%s/.local/share/husk", home) < 0)
			store = NULL;
		if (asprintf(&cache, "%s/.cache/husk", home) < 0)
			cache = NULL;
		if (asprintf(&config, "%s/.config/husk", home) < 0)
			config = NULL;
		if (!store || !cache || !config)
			return error_oom(err, "mounts");
		own[0] = store;
		own[1] = cache;
		own[2] = config;
	}
	return source_check(source, home, own, err);
}

int mount_check(const struct husk_options *options, const struct source *source,
		struct husk_error *err)
{
	CLEANUP_FREE char *home = NULL;
	const char *own[4] = {"/var/lib/husk", "/etc/husk", NULL};
	struct husk_image_options images;
	int cancel, r = settings_images(options->images, &images, &cancel, err);

	if (r < 0)
		return r;
	own[2] = images.store;
	r = home_of_caller(&home, err);
	if (r == 0)
		r = check_home(source, home, err);
	if (r == 0)
		r = source_check(source, NULL, own, err);
	if (r == 0 && options->home && (!home || strcmp(home, options->home) != 0))
		r = check_home(source, options->home, err);
	return r;
}
