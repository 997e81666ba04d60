/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/url.h"

#include "base/memory.h"
#include "base/printable.h"
#include "oci/reference.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { HTTP_PORT = 80, HTTPS_PORT = 443, MAX_PORT = 65535 };

void url_deinit(struct url *url)
{
	free(url->target);
	*url = (struct url){0};
}

/* Control characters and spaces would end the request line early. */
static int check_text(const char *text)
{
	size_t size = strnlen(text, URL_MAX + 1);

	if (size > URL_MAX)
		return -E2BIG;
	for (size_t i = 0; i < size; i++) {
		if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f)
			return -EINVAL;
	}
	return 0;
}

static bool host_char(char c, bool literal)
{
	if (literal)
		return isxdigit((unsigned char)c) || c == ':' || c == '.';
	return isalnum((unsigned char)c) || c == '.' || c == '-' || c == '_';
}

/* "host" or "[v6]" at text, into ret. Returns how long it is, or -EINVAL. */
static int read_host(const char *text, size_t size, char ret[URL_HOST])
{
	bool literal = size > 0 && text[0] == '[';
	size_t length = literal ? 1 : 0;

	while (length < size && host_char(text[length], literal))
		length++;
	if (literal) {
		if (length < 4 || length >= size || text[length] != ']')
			return -EINVAL;
		length++;
	}
	if (length == 0 || length >= URL_HOST)
		return -EINVAL;
	for (size_t i = 0; i < length; i++)
		ret[i] = (char)tolower((unsigned char)text[i]);
	ret[length] = '\0';
	return (int)length;
}

static int read_port(const char *text, size_t size, unsigned *ret)
{
	unsigned port = 0;

	if (size == 0 || size > 5)
		return -EINVAL;
	for (size_t i = 0; i < size; i++) {
		if (!isdigit((unsigned char)text[i]))
			return -EINVAL;
		port = port * 10 + (unsigned)(text[i] - '0');
	}
	if (port == 0 || port > MAX_PORT)
		return -EINVAL;
	*ret = port;
	return 0;
}

static bool default_port(const struct url *url)
{
	return url->port == (url->tls ? HTTPS_PORT : HTTP_PORT);
}

static int read_host_and_port(const char *text, size_t size, struct url *url)
{
	int length;

	if (memchr(text, '@', size))
		return -EPERM;
	length = read_host(text, size, url->host);
	if (length < 0)
		return length;
	url->port = url->tls ? HTTPS_PORT : HTTP_PORT;
	if ((size_t)length == size)
		return 0;
	if (text[length] != ':')
		return -EINVAL;
	return read_port(text + length + 1, size - (size_t)length - 1, &url->port);
}

/* "host[:port]" of size bytes. */
static int read_authority(const char *text, size_t size, struct url *url)
{
	int rc = read_host_and_port(text, size, url);

	if (rc < 0)
		return rc;
	if (default_port(url))
		(void)snprintf(url->authority, sizeof(url->authority), "%s", url->host);
	else
		(void)snprintf(url->authority, sizeof(url->authority), "%s:%u", url->host,
			       url->port);
	return 0;
}

/* Path and query of size bytes, which may begin with the query. */
static int set_target(struct url *url, const char *text, size_t size)
{
	const char *slash = size > 0 && text[0] == '/' ? "" : "/";

	if (asprintf(&url->target, "%s%.*s", slash, (int)size, text) < 0) {
		url->target = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* What follows "scheme:", which must be "//authority" and more. */
static int read_rest(const char *text, struct url *url)
{
	size_t authority, target;
	int rc;

	if (strncmp(text, "//", 2) != 0)
		return -EINVAL;
	text += 2;
	authority = strcspn(text, "/?#");
	rc = read_authority(text, authority, url);
	if (rc < 0)
		return rc;
	text += authority;
	target = strcspn(text, "#");
	return set_target(url, text, target);
}

/* The length of a scheme with its colon; 0 where there is none. */
static size_t scheme_length(const char *text)
{
	size_t length = 0;

	if (!isalpha((unsigned char)text[0]))
		return 0;
	while (isalnum((unsigned char)text[length]) ||
	       (text[length] && strchr("+-.", text[length])))
		length++;
	return text[length] == ':' ? length + 1 : 0;
}

int url_parse(const char *text, struct url *ret)
{
	size_t scheme = scheme_length(text);
	struct url url = {0};
	int rc = check_text(text);

	if (rc < 0)
		return rc;
	if (scheme == 0)
		return -EINVAL;
	if (scheme == 6 && strncasecmp(text, "https:", 6) == 0)
		url.tls = true;
	else if (scheme != 5 || strncasecmp(text, "http:", 5) != 0)
		return -EPROTONOSUPPORT;
	rc = read_rest(text + scheme, &url);
	if (rc < 0)
		return rc;
	*ret = url;
	return 0;
}

int url_make(bool tls, const char *host, const char *target, struct url *ret)
{
	struct url url = {.tls = tls};
	int rc = check_text(target);

	if (rc == 0)
		rc = read_authority(host, strlen(host), &url);
	if (rc == 0)
		rc = set_target(&url, target, strlen(target));
	if (rc < 0)
		return rc;
	*ret = url;
	return 0;
}

int url_copy(const struct url *url, struct url *ret)
{
	char *target = strdup(url->target);

	if (!target)
		return -ENOMEM;
	*ret = *url;
	ret->target = target;
	return 0;
}

/* Take "." and ".." components out of the path part of target, in place. */
static void remove_dots(char *target)
{
	size_t path = strcspn(target, "?"), in = 0, out = 0;

	while (in < path) {
		size_t next = in + 1, length;

		while (next < path && target[next] != '/')
			next++;
		length = next - in;
		if ((length == 2 && memcmp(target + in, "/.", 2) == 0) ||
		    (length == 3 && memcmp(target + in, "/..", 3) == 0)) {
			while (length == 3 && out > 0 && target[--out] != '/')
				;
			if (next == path)
				target[out++] = '/';
		} else {
			memmove(target + out, target + in, length);
			out += length;
		}
		in = next;
	}
	memmove(target + out, target + path, strlen(target + path) + 1);
}

static int resolve_relative(const struct url *base, const char *location, struct url *url)
{
	size_t keep = strcspn(base->target, "?");
	int size = (int)strcspn(location, "#");

	if (location[0] != '?' && size > 0) {
		while (keep > 0 && base->target[keep - 1] != '/')
			keep--;
	}
	if (size == 0)
		keep = strlen(base->target);
	if (asprintf(&url->target, "%.*s%.*s", (int)keep, base->target, size, location) <
	    0) {
		url->target = NULL;
		return -ENOMEM;
	}
	if (location[0] != '?')
		remove_dots(url->target);
	return 0;
}

int url_resolve(const struct url *base, const char *location, struct url *ret)
{
	struct url url = {.tls = base->tls, .port = base->port};
	int rc = check_text(location);

	if (rc < 0)
		return rc;
	if (scheme_length(location) > 0)
		return url_parse(location, ret);
	if (strncmp(location, "//", 2) == 0) {
		rc = read_rest(location, &url);
	} else {
		memcpy(url.host, base->host, sizeof(url.host));
		memcpy(url.authority, base->authority, sizeof(url.authority));
		rc = location[0] == '/'
			 ? set_target(&url, location, strcspn(location, "#"))
			 : resolve_relative(base, location, &url);
	}
	if (rc < 0)
		return rc;
	*ret = url;
	return 0;
}

bool url_same_origin(const struct url *a, const struct url *b)
{
	return a->tls == b->tls && a->port == b->port && strcmp(a->host, b->host) == 0;
}

bool url_is_loopback(const struct url *url)
{
	return reference_is_loopback(url->host);
}

int url_text(const struct url *url, struct buffer *to)
{
	int rc = buffer_addf(to, "http%s://%s", url->tls ? "s" : "", url->host);

	if (rc == 0 && !default_port(url))
		rc = buffer_addf(to, ":%u", url->port);
	return rc < 0 ? rc : buffer_add_text(to, url->target);
}

const char *url_show(const struct url *url, char text[URL_SHOWN])
{
	CLEANUP_BUFFER struct buffer whole = BUFFER_INIT(2 * (size_t)URL_MAX);

	if (url_text(url, &whole) < 0)
		return printable(text, URL_SHOWN, url->host);
	whole.data[strcspn(whole.data, "?")] = '\0';
	return printable(text, URL_SHOWN, whole.data);
}
