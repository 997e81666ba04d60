/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: texts that the kernel makes, in which a box, a container or another user
 * has chosen names: two of them, parted by a NUL, as /proc/self/cgroup and
 * /proc/self/mountinfo, and both as a group's file. What is found lies where a walk from
 * the mount point cannot leave it. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "cgroup/view.h"

enum { CONTROLLERS_ALL = (1 << CGROUP_CONTROLLERS) - 1 };

static void check_path(const char *path)
{
	require(path[0] != '/');
	for (const char *at = path; at; at = strchr(at, '/')) {
		at += *at == '/';
		require(strncmp(at, "..", 2) != 0 || (at[2] != '/' && at[2] != '\0'));
	}
}

static void use_mounts(const char *own_text, const char *text)
{
	CLEANUP_CGROUP_MOUNTS struct cgroup_mounts mounts = {0};
	CLEANUP_CGROUP_OWN struct cgroup_own own = {0};

	require(cgroup_mounts_parse(text, &mounts) == 0);
	require(cgroup_own_parse(own_text, &own) == 0);
	for (size_t i = 0; i < mounts.count; i++) {
		const struct cgroup_mount *mount = &mounts.list[i];
		const char *below;

		require(mount->root != NULL && mount->point != NULL);
		require((mount->controllers & ~(unsigned)CONTROLLERS_ALL) == 0);
		below = own.unified ? cgroup_path_below(mount->root, own.unified) : NULL;
		if (below)
			check_path(below);
		for (int c = 0; c < CGROUP_CONTROLLERS; c++) {
			below =
			    own.v1[c] ? cgroup_path_below(mount->root, own.v1[c]) : NULL;
			if (below)
				check_path(below);
		}
	}
}

static void use_view(const char *own, const char *mounts)
{
	CLEANUP_CGROUP_VIEW struct cgroup_view view = {0};
	char shown[64];

	/* Unchecked, and so opened only where such a directory is. */
	require(cgroup_view_build(own, mounts, true, &view) == 0);
	require(view.count <= CGROUP_HIERARCHIES);
	for (size_t i = 0; i < view.count; i++) {
		check_path(view.list[i].own);
		cgroup_show_path(&view.list[i], view.list[i].own, "x", shown,
				 sizeof(shown));
		require(memchr(shown, '\0', sizeof(shown)) != NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned long long value = 0;
	char *text = malloc(size + 1);
	const char *second;

	require(text != NULL);
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	second = text + strlen(text);
	second += second < text + size;
	use_mounts(text, second);
	use_view(text, second);
	(void)cgroup_keyed_value(text, "oom_kill", &value);
	(void)cgroup_number(text, &value);
	require((cgroup_controllers_in(text, size, ' ') & ~(unsigned)CONTROLLERS_ALL) ==
		0);
	free(text);
	return 0;
}
