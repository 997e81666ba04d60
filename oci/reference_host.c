/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/reference_host.h"

#include "oci/reference.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define ALNUM "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* Copy the host without its brackets and port; what follows it ("" or ":port"), or NULL
 * where the brackets do not close or it does not fit. */
static const char *split_host(const char *domain, char host[REFERENCE_NAME])
{
	const char *begin = domain, *end;

	if (*domain == '[') {
		begin++;
		end = strchr(begin, ']');
	} else {
		end = domain + strcspn(domain, ":");
	}
	if (!end || end - begin >= REFERENCE_NAME)
		return NULL;
	memcpy(host, begin, (size_t)(end - begin));
	host[end - begin] = '\0';
	return *domain == '[' ? end + 1 : end;
}

/* ":" and a number of 1 to 65535, or nothing. */
static bool is_port(const char *text)
{
	unsigned long port = 0;
	size_t digits;

	if (*text == '\0')
		return true;
	digits = strspn(text + 1, "0123456789");
	if (*text != ':' || digits == 0 || digits > 5 || text[1 + digits] != '\0')
		return false;
	for (size_t i = 1; i <= digits; i++)
		port = port * 10 + (unsigned long)(text[i] - '0');
	return port >= 1 && port <= 65535;
}

/* Letters and digits, with '-' inside, between dots. */
static bool is_domain_name(const char *host)
{
	for (;;) {
		size_t size = strspn(host, ALNUM "-");

		if (size == 0 || host[0] == '-' || host[size - 1] == '-')
			return false;
		if (host[size] == '\0')
			return true;
		if (host[size] != '.')
			return false;
		host += size + 1;
	}
}

/* No zone and no IPv4 part, as Docker has it. */
static bool is_ipv6(const char *host)
{
	struct in6_addr address;

	return strspn(host, "0123456789abcdefABCDEF:") == strlen(host) &&
	       inet_pton(AF_INET6, host, &address) == 1;
}

int reference_check_host(const char *domain, const char *where, struct husk_error *err)
{
	char host[REFERENCE_NAME];
	const char *port = split_host(domain, host);

	if (!port)
		return error_set(err, HUSK_E_INVALID, where,
				 "has a '[' in the registry that no ']' closes");
	if (*domain == '[' && !is_ipv6(host))
		return error_set(err, HUSK_E_INVALID, where,
				 "has no IPv6 address between the brackets");
	if (*domain != '[' && strchr(port, ':') != strrchr(port, ':')) {
		int rc = error_set(err, HUSK_E_INVALID, where,
				   "has a registry with several colons");

		error_hint(err, "write an IPv6 address in brackets: [::1]:5000/NAME");
		return rc;
	}
	if (!is_port(port))
		return error_set(err, HUSK_E_INVALID, where,
				 "has a registry whose port is no number of 1 to 65535");
	if (*domain != '[' && !is_domain_name(host)) {
		int rc = error_set(err, HUSK_E_INVALID, where,
				   "has a registry that is no host name: letters, digits "
				   "and '-' between dots make one");

		error_hint(err, "a path is written dir:PATH, oci:PATH, oci-archive:PATH "
				"or docker-archive:PATH");
		return rc;
	}
	return 0;
}

/* -- loopback -- */

static bool ends_in(const char *text, const char *end)
{
	size_t size = strlen(text), tail = strlen(end);

	return size >= tail && strcasecmp(text + size - tail, end) == 0;
}

bool reference_is_loopback(const char *registry)
{
	static const unsigned char one[16] = {[15] = 1};
	char host[REFERENCE_NAME];
	const char *port = split_host(registry, host);
	struct in6_addr v6;
	struct in_addr v4;

	if (!port || (*port && *port != ':'))
		return false;
	if (*registry == '[')
		return inet_pton(AF_INET6, host, &v6) == 1 &&
		       memcmp(&v6, one, sizeof(one)) == 0;
	if (strcasecmp(host, "localhost") == 0 || ends_in(host, ".localhost"))
		return true;
	return inet_pton(AF_INET, host, &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127;
}
