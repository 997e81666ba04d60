/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/layer_name.h"

#include <stdbool.h>
#include <string.h>

#include "base/printable.h"

/* OCI image-spec, layer.md, "Whiteouts". */
#define WHITEOUT ".wh."
#define METADATA ".wh..wh."
#define OPAQUE	 ".wh..wh..opq"

static bool begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static int refuse(const char *path, const char *what, const char *where, int code,
		  const char *why, struct husk_error *err)
{
	char text[160];

	return error_set(err, code, where, "%s %s %s", what,
			 printable(text, sizeof(text), path), why);
}

static int add(struct layer_name *name, size_t *used, size_t *depth, const char *part,
	       size_t size, const char **why)
{
	if (size == 0 || (size == 1 && part[0] == '.'))
		return 0;
	if (size == 2 && part[0] == '.' && part[1] == '.') {
		*why = "has a \"..\" in it";
		return HUSK_E_IMAGE;
	}
	if (size > OCI_MAX_COMPONENT)
		*why = "has a part of more than 255 bytes (OCI_MAX_COMPONENT)";
	else if (*used + size + 1 > OCI_MAX_PATH)
		*why = "is longer than 8192 bytes (OCI_MAX_PATH)";
	else if (++*depth > OCI_MAX_DEPTH)
		*why = "has more than 1024 parts (OCI_MAX_DEPTH)";
	if (*why)
		return HUSK_E_TOO_BIG;
	name->parent_size = *used;
	if (*used)
		name->text[(*used)++] = '/';
	name->name = name->text + *used;
	memcpy(name->name, part, size);
	*used += size;
	name->text[*used] = '\0';
	return 0;
}

int layer_name_clean(struct layer_name *name, const char *path, const char *what,
		     const char *where, struct husk_error *err)
{
	const char *at = path, *why = NULL;
	size_t used = 0, depth = 0;
	int rc = 0;

	name->name = name->text;
	name->text[0] = '\0';
	name->parent_size = 0;
	if (!*path)
		return refuse(path, what, where, HUSK_E_IMAGE, "has no name", err);
	while (*at && rc == 0) {
		size_t size = strcspn(at, "/");

		rc = add(name, &used, &depth, at, size, &why);
		at += size + (at[size] == '/');
	}
	return rc < 0 ? refuse(path, what, where, rc, why, err) : 0;
}

/* A directory on the way whose name is kept for whiteouts. */
static const char *reserved_parent(const struct layer_name *name)
{
	const char *at = name->text;

	while (at < name->name && !begins(at, WHITEOUT))
		at += strcspn(at, "/") + 1;
	return at < name->name ? at : NULL;
}

int layer_name_kind(struct layer_name *name, const char *where, struct husk_error *err)
{
	const char *parent = reserved_parent(name), *of = name->name + strlen(WHITEOUT);

	if (parent && begins(parent, METADATA))
		return NAME_SKIPPED;
	if (parent)
		return refuse(name->text, "entry", where, HUSK_E_IMAGE,
			      "lies below a whiteout", err);
	if (!*name->name)
		return NAME_ROOT;
	if (!begins(name->name, WHITEOUT))
		return NAME_PLAIN;
	if (!strcmp(name->name, OPAQUE))
		return NAME_OPAQUE;
	if (begins(name->name, METADATA))
		return NAME_SKIPPED;
	if (!*of || !strcmp(of, ".") || !strcmp(of, ".."))
		return refuse(name->text, "entry", where, HUSK_E_IMAGE,
			      "is a whiteout of nothing", err);
	name->name += strlen(WHITEOUT);
	return NAME_WHITEOUT;
}
