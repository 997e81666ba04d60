/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/volume.h"

#include "cli/say.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int malformed(const char *text, const char *why, struct husk_error *err)
{
	(void)cli_error(err, "--volume", "%s: %s", text, why);
	cli_error_hint(err, "write SRC:DST, SRC:DST:ro or SRC:DST:rw");
	return HUSK_E_INVALID;
}

/* "", ":ro" or ":rw": what follows DST. */
static bool parse_mode(const char *mode, uint32_t *ret_flags)
{
	if (mode[0] == '\0' || strcmp(mode, ":rw") == 0) {
		*ret_flags = HUSK_MOUNT_ALLOW_WRITE;
		return true;
	}
	*ret_flags = 0;
	return strcmp(mode, ":ro") == 0;
}

/* "." and "..", alone or before a slash. */
static bool is_dotted(const char *path)
{
	size_t dots = strspn(path, ".");

	return (dots == 1 || dots == 2) && (path[dots] == '/' || path[dots] == '\0');
}

static char *below_cwd(struct cli_keep **kept, const char *path, struct husk_error *err)
{
	char *cwd = getcwd(NULL, 0), *absolute;
	size_t size;

	if (!cwd) {
		(void)cli_error(err, "--volume", "%s: the current directory: %s", path,
				strerror(errno));
		return NULL;
	}
	size = strlen(cwd) + 1 + strlen(path) + 1;
	absolute = cli_keep_new(kept, size);
	if (absolute)
		(void)snprintf(absolute, size, "%s/%s", cwd, path);
	else
		(void)cli_error_memory(err, "--volume");
	free(cwd);
	return absolute;
}

int cli_volume_parse(struct cli_keep **kept, const char *text,
		     struct husk_mount *ret_mount, struct husk_error *err)
{
	size_t source_size = strcspn(text, ":"), target_size;
	struct husk_mount mount = {0};
	const char *target;
	char *source;

	if (text[source_size] == '\0')
		return malformed(text, "there is no target", err);
	target = text + source_size + 1;
	target_size = strcspn(target, ":");
	if (source_size == 0 || target_size == 0)
		return malformed(
		    text, source_size == 0 ? "there is no source" : "there is no target",
		    err);
	if (target[0] != '/')
		return malformed(text, "the target is not an absolute path", err);
	if (!parse_mode(target + target_size, &mount.flags))
		return malformed(
		    text, "what follows the second colon is neither ro nor rw", err);
	source = cli_keep_text(kept, text, source_size);
	mount.source = source;
	mount.target = cli_keep_text(kept, target, target_size);
	if (!mount.source || !mount.target)
		return cli_error_memory(err, "--volume");
	if (is_dotted(source)) {
		mount.source = below_cwd(kept, source, err);
		if (!mount.source)
			return HUSK_E_INVALID;
	} else if (source[0] != '/') {
		(void)cli_error(err, "--volume", "%s: the source is not a path", text);
		cli_error_hint(err, "for a directory here write ./%s", source);
		return HUSK_E_INVALID;
	}
	*ret_mount = mount;
	return 0;
}
