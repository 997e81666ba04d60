/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/credentials.h"

#include "cli/say.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct secret {
	const char *path; /* below the caller's home, unless absolute */
	const char *what;
};

/* Sorted by path. */
static const struct secret secrets[] = {
    {".aws", "credentials of AWS"},
    {".azure", "credentials of Azure"},
    {".config/gcloud", "credentials of Google Cloud"},
    {".config/gh", "tokens of GitHub"},
    {".docker", "credentials of registries"},
    {".git-credentials", "passwords of git"},
    {".gnupg", "keys of GnuPG"},
    {".kube", "credentials of Kubernetes"},
    {".local/share/keyrings", "passwords"},
    {".mozilla", "passwords and cookies of the browser"},
    {".netrc", "passwords"},
    {".npmrc", "tokens of npm"},
    {".password-store", "passwords"},
    {".pypirc", "tokens of PyPI"},
    {".ssh", "SSH keys"},
    {"/etc/kubernetes", "credentials of Kubernetes"},
    {"/etc/shadow", "passwords"},
    {"/etc/ssh", "the host's SSH keys"},
    {"/etc/ssl/private", "keys of certificates"},
};

/* Is `path` the directory `above` or something below it? */
static bool lies_in(const char *path, const char *above)
{
	size_t size = strlen(above);

	if (size == 1) /* "/" */
		return true;
	return strncmp(path, above, size) == 0 &&
	       (path[size] == '\0' || path[size] == '/');
}

static void warn(const char *source, const char *found, const char *what)
{
	static const char hint[] = "copy what the box needs into a directory of its own "
				   "and mount that; :ro does "
				   "not keep it from being read";
	char why[2 * PATH_MAX + 200];

	if (strcmp(source, found) == 0 || lies_in(source, found))
		(void)snprintf(why, sizeof(why), "mount of %s: the box can read %s there",
			       source, what);
	else
		(void)snprintf(why, sizeof(why),
			       "mount of %s: the box can read %s there, in %s", source,
			       what, found);
	cli_say("warning", why, hint);
}

/* The home, the host's /etc and what holds them are refused, and that says it all. */
static bool is_refused(const char *real, const char *home)
{
	char real_home[PATH_MAX];

	return strcmp(real, "/") == 0 || strcmp(real, "/etc") == 0 ||
	       (home && realpath(home, real_home) && lies_in(real_home, real));
}

static void look_at(const char *source, const char *home)
{
	char real[PATH_MAX], path[PATH_MAX + 64], secret[PATH_MAX];

	if (!source || !realpath(source, real) || is_refused(real, home))
		return;
	for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
		bool absolute = secrets[i].path[0] == '/';

		if (!absolute && !home)
			continue;
		(void)snprintf(path, sizeof(path), "%s%s%s", absolute ? "" : home,
			       absolute ? "" : "/", secrets[i].path);
		if (!realpath(path, secret) ||
		    (!lies_in(real, secret) && !lies_in(secret, real)))
			continue;
		warn(real, secret, secrets[i].what);
		return; /* one is enough to look again */
	}
}

void cli_credentials_warn(const struct cli_settings *settings)
{
	const char *home = cli_settings_variable("HOME");

	if (home && (home[0] != '/' || strlen(home) >= PATH_MAX))
		home = NULL;
	for (size_t i = 0; i < settings->mount_count; i++)
		look_at(settings->mounts[i].source, home);
	if (settings->box.workspace)
		look_at(settings->box.workspace, home);
}
