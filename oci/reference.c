/* SPDX-License-Identifier: Apache-2.0 */
/* reference ::= name [":" tag] ["@" digest]; name ::= [domain "/"] path. Which part is
 * the domain, and what a short name stands for, is Docker's rule. */
#include "oci/reference.h"

#include "base/printable.h"
#include "oci/reference_host.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LOWER	 "abcdefghijklmnopqrstuvwxyz"
#define UPPER	 "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS	 "0123456789"
#define HUB	 "docker.io"
#define OFFICIAL "library/"

/* The parts of a name as they were written. */
struct parts {
	const char *where; /* the name for messages, without what may be a password */
	char domain[REFERENCE_NAME];
	char path[REFERENCE_NAME];
	const char *tag;    /* NULL where there is none */
	const char *digest; /* NULL where there is none */
	size_t tag_size;
};

/* -- what is refused before anything is taken apart -- */

/* The colon of a scheme ("https://", and "http:/" where a slash was lost), or NULL. */
static const char *scheme_of(const char *text)
{
	const char *colon = strstr(text, "://");

	if (colon)
		return colon;
	if (strncmp(text, "http:/", 6) == 0 || strncmp(text, "https:/", 7) == 0)
		return strchr(text, ':');
	return NULL;
}

static int refuse_scheme(const char *text, const char *colon, const char *where,
			 struct husk_error *err)
{
	size_t scheme = (size_t)(colon - text);
	bool known = scheme <= 16 && strspn(text, LOWER UPPER "-") == scheme;
	int rc;

	rc = error_set(err, HUSK_E_INVALID, where,
		       "is an address with a scheme, not the name of an image");
	if (!known || strpbrk(text, "@?#"))
		error_hint(err, "write HOST/NAME:TAG");
	else if (scheme == 4 && strncmp(text, "http", 4) == 0)
		error_hint(err,
			   "write it without \"http://\"; plain HTTP is a setting of "
			   "its own (--plain-http), and not needed on loopback");
	else
		error_hint(err, "write it without \"%.*s://\"", (int)scheme, text);
	return rc;
}

/* Docker's grammar of a digest: an algorithm, a colon, at least 32 hexadecimal digits. */
static bool is_digest(const char *text)
{
	size_t name = strspn(text, LOWER UPPER DIGITS "+._-");
	size_t digits;

	if (name == 0 || text[name] != ':')
		return false;
	text += name + 1;
	digits = strspn(text, "abcdefABCDEF" DIGITS);
	return digits >= 32 && text[digits] == '\0';
}

/* Is what follows an '@' a digest, or at least meant as one? Else a host may follow, and
 * what stands before it may be a password. */
static bool meant_as_digest(const char *text)
{
	return is_digest(text) || strncmp(text, "sha256:", 7) == 0 ||
	       strncmp(text, "sha512:", 7) == 0;
}

static int refuse_userinfo(const char *where, struct husk_error *err)
{
	int rc = error_set(err, HUSK_E_INVALID, where,
			   "holds '@' where no digest follows: a user name or a password "
			   "is no part of an image's name");

	error_hint(err, "write HOST/NAME:TAG, or NAME@sha256:DIGEST; credentials belong "
			"into the auth file (docker login writes it)");
	return rc;
}

/* The name as messages may show it: what stands before an '@' that no digest follows may
 * be a password, and what follows '?' may be a token. */
static void name_for_messages(const char *text, char *out, size_t capacity)
{
	char shown[256];
	const char *at = strrchr(text, '@');
	bool hide =
	    at && (at != strchr(text, '@') || !is_digest(at + 1) || scheme_of(text));
	size_t size;

	text = hide ? at : text;
	size = strcspn(text, "?#");
	if (size >= sizeof(shown))
		size = sizeof(shown) - 1;
	memcpy(shown, text, size);
	shown[size] = '\0';
	(void)snprintf(out, capacity, "%s", hide ? "..." : "");
	(void)printable(out + strlen(out), capacity - strlen(out), shown);
	if (*out == '\0')
		(void)snprintf(out, capacity, "image name");
}

static int refuse_at_once(const char *text, const char *where, struct husk_error *err)
{
	const char *at = strrchr(text, '@');
	const char *first = strchr(text, '@');
	const char *colon = scheme_of(text);
	int rc;

	if (*text == '\0')
		return error_set(err, HUSK_E_INVALID, where, "is empty");
	if (colon)
		return refuse_scheme(text, colon, where, err);
	if (at && (at != first || !meant_as_digest(at + 1)))
		return refuse_userinfo(where, err);
	if (strlen(text) == 64 && strspn(text, "abcdef" DIGITS) == 64) {
		rc = error_set(err, HUSK_E_INVALID, where,
			       "is 64 hexadecimal digits: an id, not a name");
		error_hint(err, "for an image by its digest write NAME@sha256:%s", text);
		return rc;
	}
	return 0;
}

/* -- taking apart -- */

/* Is the part before the first slash a registry? Docker takes one with upper case for a
 * registry too. Here hosts are the same in either case, and that of "Org/app" would
 * become the organisation of "org/app": it is refused as a repository. */
static bool is_domain(const char *text, size_t size)
{
	if (size == strlen("localhost") && strncasecmp(text, "localhost", size) == 0)
		return true;
	return memchr(text, '.', size) || memchr(text, ':', size) ||
	       memchr(text, '[', size);
}

static int too_long(const char *where, const char *what, size_t size,
		    struct husk_error *err)
{
	return error_set(err, HUSK_E_INVALID, where,
			 "%s has %zu bytes, and at most %d are allowed", what, size,
			 REFERENCE_NAME - 1);
}

/* The registry, in lower case; Docker's hub under its one name. */
static int take_domain(struct parts *parts, const char *text, size_t size,
		       struct husk_error *err)
{
	if (size >= sizeof(parts->domain))
		return too_long(parts->where, "the registry", size, err);
	for (size_t i = 0; i < size; i++) {
		char c = text[i];

		parts->domain[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
	}
	parts->domain[size] = '\0';
	if (strcmp(parts->domain, "index.docker.io") == 0 ||
	    strcmp(parts->domain, "registry-1.docker.io") == 0)
		(void)snprintf(parts->domain, sizeof(parts->domain), HUB);
	return 0;
}

/* Everything that follows the registry: path[:tag][@digest]. */
static int take_rest(struct parts *parts, const char *text, struct husk_error *err)
{
	const char *at = strchr(text, '@');
	size_t size = at ? (size_t)(at - text) : strlen(text);
	const char *colon = memchr(text, ':', size);
	const char *prefix = "";

	if (at)
		parts->digest = at + 1;
	if (colon) {
		parts->tag = colon + 1;
		parts->tag_size = size - (size_t)(colon - text) - 1;
		size = (size_t)(colon - text);
	}
	if (strcmp(parts->domain, HUB) == 0 && !memchr(text, '/', size) && size > 0)
		prefix = OFFICIAL;
	if (strlen(prefix) + size >= sizeof(parts->path))
		return too_long(parts->where, "the repository", strlen(prefix) + size,
				err);
	(void)snprintf(parts->path, sizeof(parts->path), "%s%.*s", prefix, (int)size,
		       text);
	return 0;
}

static int take_apart(const char *text, struct parts *parts, struct husk_error *err)
{
	const char *slash = strchr(text, '/');
	size_t first = slash ? (size_t)(slash - text) : 0;
	int rc;

	if (slash && is_domain(text, first)) {
		rc = take_domain(parts, text, first, err);
		text = slash + 1;
	} else {
		rc = take_domain(parts, HUB, strlen(HUB), err);
	}
	return rc < 0 ? rc : take_rest(parts, text, err);
}

/* -- the parts, each by its rule -- */

static int refuse_upper(const char *where, const char *path, struct husk_error *err)
{
	char lower[REFERENCE_NAME];
	int rc = error_set(err, HUSK_E_INVALID, where,
			   "has upper case in the repository \"%s\", which must be in "
			   "lower case",
			   path);

	for (size_t i = 0; i <= strlen(path); i++) {
		char c = path[i];

		lower[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
	}
	error_hint(err, "write \"%s\"; a registry is one by a dot or a port", lower);
	return rc;
}

/* One of the separators that may stand between letters: one dot, one or two underscores,
 * any number of dashes. Its size, or 0. */
static size_t separator(const char *text)
{
	size_t size = strspn(text, *text == '-' ? "-" : "._");

	if (*text == '-')
		return size;
	if (size == 1 || (size == 2 && strncmp(text, "__", 2) == 0))
		return size;
	return 0;
}

/* [a-z0-9]+ (separator [a-z0-9]+)*, up to a slash or the end. Its size, or 0. */
static size_t component(const char *text)
{
	const char *at = text;

	for (;;) {
		size_t letters = strspn(at, LOWER DIGITS);
		size_t between;

		if (letters == 0)
			return 0;
		at += letters;
		if (*at == '/' || *at == '\0')
			return (size_t)(at - text);
		between = separator(at);
		if (between == 0)
			return 0;
		at += between;
	}
}

/* Why the component that begins at text is none. */
static int refuse_component(const char *where, const char *text, struct husk_error *err)
{
	static const char rule[] =
	    "components are a-z and 0-9, with one '.', one or two '_' or any number of "
	    "'-' between them";
	size_t size = strcspn(text, "/");
	size_t good = strspn(text, LOWER DIGITS "._-/");
	char part[REFERENCE_NAME], shown[REFERENCE_NAME], bad[16];
	int rc;

	if (size == 0) {
		rc = error_set(err, HUSK_E_INVALID, where,
			       "has an empty component (a slash too many)");
		if (where[0] == '/')
			error_hint(err, "a path is written dir:PATH, oci:PATH, "
					"oci-archive:PATH or docker-archive:PATH");
		return rc;
	}
	if (good < size) {
		/* The whole character, where it has more bytes than one. */
		size_t bytes = 1;

		while (bytes < 4 && ((unsigned char)text[good + bytes] & 0xc0) == 0x80)
			bytes++;
		memcpy(part, text + good, bytes);
		part[bytes] = '\0';
		rc = error_set(err, HUSK_E_INVALID, where,
			       "has a character that no repository may hold: '%s'",
			       printable(bad, sizeof(bad), part));
	} else {
		memcpy(part, text, size);
		part[size] = '\0';
		rc = error_set(err, HUSK_E_INVALID, where,
			       "has a component that begins, ends or goes on wrongly: "
			       "\"%s\"",
			       printable(shown, sizeof(shown), part));
	}
	error_hint(err, "%s", rule);
	return rc;
}

static int check_path(const struct parts *parts, struct husk_error *err)
{
	const char *at = parts->path;

	if (*at == '\0')
		return error_set(err, HUSK_E_INVALID, parts->where,
				 "names no repository");
	if (strpbrk(at, UPPER) && strspn(at, LOWER UPPER DIGITS "._-/") == strlen(at))
		return refuse_upper(parts->where, at, err);
	for (;;) {
		size_t size = component(at);

		if (size == 0)
			return refuse_component(parts->where, at, err);
		if (at[size] == '\0')
			return 0;
		at += size + 1;
	}
}

/* [A-Za-z0-9_][A-Za-z0-9_.-]{0,127} */
static int check_tag(const struct parts *parts, struct husk_error *err)
{
	size_t good;

	if (!parts->tag)
		return 0;
	good = strspn(parts->tag, LOWER UPPER DIGITS "_.-");
	if (parts->tag_size == 0)
		return error_set(err, HUSK_E_INVALID, parts->where,
				 "ends in ':' without a tag");
	if (parts->tag_size >= REFERENCE_TAG)
		return error_set(err, HUSK_E_INVALID, parts->where,
				 "has a tag of %zu bytes, and at most %d are allowed",
				 parts->tag_size, REFERENCE_TAG - 1);
	if (good < parts->tag_size || strchr(".-", parts->tag[0]))
		return error_set(err, HUSK_E_INVALID, parts->where,
				 "has a tag that is none: letters, digits, '_', '.' and "
				 "'-' make one, the first is no '.' or '-'");
	return 0;
}

static int check_digest(const struct parts *parts, struct digest *ret,
			struct husk_error *err)
{
	int rc, r;

	*ret = (struct digest){0};
	if (!parts->digest)
		return 0;
	r = digest_parse(parts->digest, ret);
	if (r == 0)
		return 0;
	if (r == -ENOTSUP)
		return error_set(err, HUSK_E_INVALID, parts->where,
				 "has a digest of an algorithm that husk does not know: "
				 "sha256 and sha512 are known");
	rc = error_set(err, HUSK_E_INVALID, parts->where, "has a malformed digest");
	error_hint(err, "sha256: and 64 digits, or sha512: and 128, of 0-9 and a-f");
	return rc;
}

int reference_parse(const char *text, struct reference *ret, struct husk_error *err)
{
	char where[sizeof(err->where)];
	struct parts parts = {.where = where};
	struct digest digest;
	int rc;

	name_for_messages(text, where, sizeof(where));
	rc = refuse_at_once(text, where, err);
	if (rc < 0)
		return rc;
	rc = take_apart(text, &parts, err);
	if (rc < 0)
		return rc;
	rc = reference_check_host(parts.domain, where, err);
	if (rc < 0)
		return rc;
	rc = check_path(&parts, err);
	if (rc < 0)
		return rc;
	rc = check_tag(&parts, err);
	if (rc < 0)
		return rc;
	rc = check_digest(&parts, &digest, err);
	if (rc < 0)
		return rc;
	*ret = (struct reference){.digest = digest};
	(void)snprintf(ret->registry, sizeof(ret->registry), "%s", parts.domain);
	(void)snprintf(ret->repository, sizeof(ret->repository), "%s", parts.path);
	if (parts.tag)
		(void)snprintf(ret->tag, sizeof(ret->tag), "%.*s", (int)parts.tag_size,
			       parts.tag);
	else if (!parts.digest)
		(void)snprintf(ret->tag, sizeof(ret->tag), "latest");
	return 0;
}

void reference_text(const struct reference *reference, char text[REFERENCE_TEXT])
{
	char digest[DIGEST_TEXT];

	digest_text(&reference->digest, digest);
	(void)snprintf(text, REFERENCE_TEXT, "%s/%s%s%s%s%s", reference->registry,
		       reference->repository, *reference->tag ? ":" : "", reference->tag,
		       *digest ? "@" : "", digest);
}

const char *reference_host(const struct reference *reference)
{
	return strcmp(reference->registry, HUB) == 0 ? "registry-1.docker.io"
						     : reference->registry;
}
