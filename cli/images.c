/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/images.h"

#include "cli/config.h"
#include "cli/progress.h"
#include "cli/say.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_TEXT = 4096, AUTH_FILES = 4 };

/* "BASE/REST", kept; NULL where BASE is not set or no absolute path. */
static const char *below(struct cli_settings *settings, const char *variable,
			 const char *rest)
{
	const char *base = cli_settings_variable(variable);
	char path[PATH_TEXT];
	int n;

	if (!base || base[0] != '/')
		return NULL;
	n = snprintf(path, sizeof(path), "%s/%s", base, rest);
	if (n < 0 || n >= (int)sizeof(path))
		return NULL;
	return cli_keep_text(&settings->kept, path, (size_t)n);
}

/* The library takes absolute paths only: what is relative is so to where husk was
 * started. */
static int absolute(struct cli_settings *settings, const char *path, const char **ret,
		    struct husk_error *err)
{
	char here[PATH_TEXT], text[2 * PATH_TEXT];
	int n;

	if (path[0] == '/') {
		*ret = path;
		return 0;
	}
	if (strlen(path) >= PATH_TEXT || !getcwd(here, sizeof(here)))
		return cli_error(err, "HUSK_STORE", "not a path that can be used");
	n = snprintf(text, sizeof(text), "%s/%s", here, path);
	*ret = cli_keep_text(&settings->kept, text, (size_t)n);
	return *ret ? 0 : cli_error_memory(err, "HUSK_STORE");
}

/* root's store is the machine's, wherever root's home is. */
static int find_store(struct cli_settings *settings, struct husk_error *err)
{
	const char *own = cli_settings_variable("HUSK_STORE");

	if (own)
		return absolute(settings, own, &settings->images.store, err);
	settings->images.store = below(settings, "XDG_DATA_HOME", "husk");
	if (!settings->images.store && geteuid() != 0)
		settings->images.store = below(settings, "HOME", ".local/share/husk");
	return 0;
}

/* A file that is named on the command line is the only one, and has to be there. */
static int find_auth_files(struct cli_settings *settings, struct husk_error *err)
{
	const char **files =
	    cli_keep_new(&settings->kept, (AUTH_FILES + 1) * sizeof(*files));
	const char *candidates[AUTH_FILES] = {
	    cli_settings_variable("REGISTRY_AUTH_FILE"),
	    below(settings, "XDG_RUNTIME_DIR", "containers/auth.json"),
	    cli_settings_variable("DOCKER_CONFIG")
		? below(settings, "DOCKER_CONFIG", "config.json")
		: below(settings, "HOME", ".docker/config.json"),
	};
	struct stat st;
	size_t count = 0;

	if (!files)
		return cli_error_memory(err, "--authfile");
	settings->images.auth_files = files;
	if (settings->authfile) {
		files[0] = settings->authfile;
		if (stat(settings->authfile, &st) == 0)
			return 0;
		return cli_error(err, "--authfile", "%s: %s", settings->authfile,
				 strerror(errno));
	}
	for (size_t i = 0; i < AUTH_FILES; i++) {
		if (candidates[i])
			files[count++] = candidates[i];
	}
	return 0;
}

/* As curl's manual has it: lower case before upper; http_proxy in lower case only, since
 * HTTP_PROXY is what a web server makes of a request's header. */
static void find_proxies(struct husk_image_options *images)
{
	static const char *const https[] = {"https_proxy", "HTTPS_PROXY", "all_proxy",
					    "ALL_PROXY"};
	static const char *const http[] = {"http_proxy", "all_proxy", "ALL_PROXY"};
	static const char *const none[] = {"no_proxy", "NO_PROXY"};

	for (size_t i = 0; i < sizeof(https) / sizeof(https[0]) && !images->https_proxy;
	     i++)
		images->https_proxy = cli_settings_variable(https[i]);
	for (size_t i = 0; i < sizeof(http) / sizeof(http[0]) && !images->http_proxy; i++)
		images->http_proxy = cli_settings_variable(http[i]);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]) && !images->no_proxy; i++)
		images->no_proxy = cli_settings_variable(none[i]);
}

int cli_images_finish(struct cli_settings *settings, struct husk_error *err)
{
	int r = find_store(settings, err);

	if (r == 0)
		r = find_auth_files(settings, err);
	if (r < 0)
		return r;
	settings->images.helper_path = cli_settings_variable("PATH");
	settings->images.mirrors = settings->mirrors;
	find_proxies(&settings->images);
	return 0;
}

/* Who names a file that is there did not mean a registry. */
static void hint_file(const char *image, struct husk_error *err)
{
	struct stat st;

	if (!image || stat(image, &st) < 0)
		return;
	if (S_ISDIR(st.st_mode))
		cli_error_hint(
		    err, "for the directory %.200s write dir: or oci: before it", image);
	else if (S_ISREG(st.st_mode))
		cli_error_hint(err,
			       "for the file %.200s write oci-archive: or "
			       "docker-archive: before it, or `husk image import` it",
			       image);
}

static int open_session(struct cli_settings *settings, husk_cancel *cancel,
			husk_session **ret_session, struct husk_error *err)
{
	static struct cli_progress progress;
	int r;

	if (!cli_settings_has_command(settings))
		return husk_session_open(&settings->box, ret_session, err);
	cli_progress_init(&progress, cli_progress_style_of(false, CLI_PROGRESS_BRIEF),
			  STDERR_FILENO);
	settings->images.on_progress = cli_progress_event;
	settings->images.user = &progress;
	settings->images.cancel = cancel;
	r = husk_session_open(&settings->box, ret_session, err);
	cli_progress_clear(&progress);
	if (r == HUSK_E_IMAGE || r == HUSK_E_REGISTRY)
		hint_file(settings->box.image, err);
	return r;
}

int cli_session_open(struct cli_settings *settings, husk_cancel *cancel,
		     husk_session **ret_session, struct husk_error *err)
{
	int r = open_session(settings, cancel, ret_session, err);

	if (r < 0)
		cli_config_blame(settings, err);
	return r;
}
