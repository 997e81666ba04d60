/* SPDX-License-Identifier: Apache-2.0 */
/* What a refusal was about: a path, an address, or the arguments that say what was asked
 * for. All of it is the box's own words, for people to read. */
#include "runtime/denial.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "runtime/wire.h"

/* Sorted by name. The arguments that are numbers with a meaning, as bits. */
static const struct {
	const char *name;
	unsigned args;
} numbers[] = {
    {"bpf", 1},		{"clone", 1}, {"ioctl", 2},  {"keyctl", 1}, {"kill", 3},
    {"personality", 1}, {"prctl", 1}, {"ptrace", 1}, {"setns", 2},  {"unshare", 1},
};

static void unix_address(const struct wire_denial *row, char *text, size_t capacity)
{
	struct sockaddr_un address = {0};
	size_t size = row->text_size, head = offsetof(struct sockaddr_un, sun_path);

	memcpy(&address, row->text, size < sizeof(address) ? size : sizeof(address));
	size = size < sizeof(address) ? size : sizeof(address);
	if (size <= head)
		(void)snprintf(text, capacity, "unnamed local socket");
	else if (address.sun_path[0] == '\0')
		(void)snprintf(text, capacity, "@%.*s", (int)(size - head - 1),
			       address.sun_path + 1);
	else
		(void)snprintf(text, capacity, "%.*s", (int)(size - head),
			       address.sun_path);
}

static void address_text(const struct wire_denial *row, char *text, size_t capacity)
{
	char host[INET6_ADDRSTRLEN] = "?";
	struct sockaddr_in in = {0};
	struct sockaddr_in6 in6 = {0};
	sa_family_t family;

	memcpy(&family, row->text, sizeof(family));
	if (family == AF_UNIX) {
		unix_address(row, text, capacity);
	} else if (family == AF_INET && row->text_size >= sizeof(in)) {
		memcpy(&in, row->text, sizeof(in));
		(void)inet_ntop(AF_INET, &in.sin_addr, host, sizeof(host));
		(void)snprintf(text, capacity, "%s:%u", host, ntohs(in.sin_port));
	} else if (family == AF_INET6 && row->text_size >= sizeof(in6)) {
		memcpy(&in6, row->text, sizeof(in6));
		(void)inet_ntop(AF_INET6, &in6.sin6_addr, host, sizeof(host));
		(void)snprintf(text, capacity, "[%s]:%u", host, ntohs(in6.sin6_port));
	} else {
		(void)snprintf(text, capacity, "family %u", family);
	}
}

static void number_text(const struct wire_denial *row, unsigned args, char *text,
			size_t capacity)
{
	size_t used = 0;

	for (unsigned i = 0; i < 6 && used < capacity; i++) {
		if (args & 1U << i)
			used += (size_t)snprintf(text + used, capacity - used, "%s%#llx",
						 used > 0 ? ", " : "",
						 (unsigned long long)row->args[i]);
	}
}

void denial_subject(const struct wire_denial *row, const char *name, char *text,
		    size_t capacity)
{
	text[0] = '\0';
	if (row->about == WIRE_ABOUT_PATH) {
		(void)snprintf(text, capacity, "%.*s", (int)row->text_size, row->text);
		return;
	}
	if (row->about == WIRE_ABOUT_ADDRESS) {
		address_text(row, text, capacity);
		return;
	}
	if (strcmp(name, "socket") == 0 || strcmp(name, "socketpair") == 0) {
		(void)snprintf(text, capacity, "family %d, type %d, protocol %d",
			       (int)row->args[0], (int)row->args[1] & 0xf,
			       (int)row->args[2]);
		return;
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (strcmp(numbers[i].name, name) == 0)
			number_text(row, numbers[i].args, text, capacity);
	}
}
