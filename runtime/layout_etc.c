/* SPDX-License-Identifier: Apache-2.0 */
/* The files of /etc that a box gets from us: no host name, no account of the host. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "runtime/layout.h"

enum {
	ETC_TEXT = 4096,
	NOBODY = 65534,
};

static const char hosts[] = "127.0.0.1\tlocalhost husk\n::1\tlocalhost ip6-localhost\n";
static const char nsswitch[] = "passwd: files\ngroup: files\nshadow: files\n"
			       "hosts: files dns\nservices: files\nprotocols: files\n";

static void add_file(struct layout *layout, const char *prefix, const char *name,
		     const char *content)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "%s%s", prefix, name);
	plan_file(layout->plan, path, content, strlen(content), 0644);
}

static void add_accounts(struct layout *layout, const char *prefix)
{
	uint32_t uid = layout->spec->uid, gid = layout->spec->gid;
	char text[ETC_TEXT];
	int n;

	n = snprintf(text, sizeof(text), "root:x:0:0:root:/tmp:/bin/sh\n");
	if (uid != 0 && uid != NOBODY)
		n += snprintf(text + n, sizeof(text) - (size_t)n,
			      "box:x:%u:%u:box:/tmp:/bin/sh\n", uid, gid);
	(void)snprintf(text + n, sizeof(text) - (size_t)n,
		       "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n");
	add_file(layout, prefix, "etc/passwd", text);
	n = snprintf(text, sizeof(text), "root:x:0:\n");
	if (gid != 0 && gid != NOBODY)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "box:x:%u:\n", gid);
	(void)snprintf(text + n, sizeof(text) - (size_t)n, "nogroup:x:65534:\n");
	add_file(layout, prefix, "etc/group", text);
	add_file(layout, prefix, "etc/nsswitch.conf", nsswitch);
}

void layout_etc(struct layout *layout, const char *prefix, bool accounts)
{
	char resolv[ETC_TEXT];

	if (accounts)
		add_accounts(layout, prefix);
	add_file(layout, prefix, "etc/hostname", "husk\n");
	add_file(layout, prefix, "etc/hosts", hosts);
	/* Name servers only where they can be reached. */
	if (!layout->spec->host_network ||
	    fd_read_text(AT_FDCWD, "/etc/resolv.conf", resolv, sizeof(resolv)) < 0)
		resolv[0] = '\0';
	add_file(layout, prefix, "etc/resolv.conf", resolv);
}
