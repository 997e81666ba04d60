/* SPDX-License-Identifier: Apache-2.0 */
/* A registry of a few lines: a thread that answers requests on loopback from a table, and
 * writes down what it was asked. It speaks plain HTTP, and hangs up on a TLS greeting. */
#ifndef TESTS_UNIT_OCI_PEER_H
#define TESTS_UNIT_OCI_PEER_H

#include "tests/unit/oci_place.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>

struct peer_answer {
	const char *target;  /* of the request; NULL: any */
	const char *status;  /* "200 OK" */
	const char *headers; /* lines with their ends; NULL: none */
	const void *body;
	size_t size;	 /* of body */
	size_t short_by; /* so many bytes of it are not sent */
	int times;	 /* after so many it is passed over; 0: never */
};

struct peer {
	int listener;
	char name[32]; /* 127.0.0.1:port */
	pthread_t thread;
	pthread_mutex_t lock;
	struct peer_answer *answers;
	/* What is answered before the table; NULL: look there. Under lock. May be NULL.
	 */
	const struct peer_answer *(*gate)(struct peer *peer, const char *request);
	size_t count;
	char log[64 * 1024]; /* all requests, as they came */
	size_t logged;
	int greetings; /* of TLS */
};

static inline void peer_send(int fd, const void *data, size_t size)
{
	while (size > 0) {
		ssize_t n = send(fd, data, size, MSG_NOSIGNAL);

		if (n <= 0)
			return;
		data = (const char *)data + n;
		size -= (size_t)n;
	}
}

static inline void peer_answer(int fd, const struct peer_answer *answer)
{
	char head[2048];
	int n = snprintf(head, sizeof(head),
			 "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n"
			 "Connection: close\r\n\r\n",
			 answer->status, answer->headers ? answer->headers : "",
			 answer->size);

	peer_send(fd, head, (size_t)n);
	peer_send(fd, answer->body, answer->size - answer->short_by);
}

/* Under lock. */
static inline struct peer_answer *peer_choose(struct peer *peer, const char *request)
{
	const char *target = strchr(request, ' ');

	for (size_t i = 0; target && i < peer->count; i++) {
		struct peer_answer *answer = &peer->answers[i];
		size_t size = answer->target ? strlen(answer->target) : 0;

		if (answer->times < 0 ||
		    (size > 0 && (strncmp(target + 1, answer->target, size) != 0 ||
				  target[1 + size] != ' ')))
			continue;
		if (answer->times > 0 && --answer->times == 0)
			answer->times = -1;
		return answer;
	}
	return NULL;
}

static inline void peer_serve(struct peer *peer, int fd)
{
	static const struct peer_answer none = {.status = "404 Not Found"};
	const struct peer_answer *answer;
	struct peer_answer copy = none;
	char request[16 * 1024];
	size_t size = 0;
	ssize_t n;

	while (size < sizeof(request) - 1 &&
	       (n = read(fd, request + size, sizeof(request) - 1 - size)) > 0) {
		size += (size_t)n;
		request[size] = '\0';
		if (request[0] == 0x16 || strstr(request, "\r\n\r\n"))
			break;
	}
	if (size == 0)
		return;
	(void)pthread_mutex_lock(&peer->lock);
	if (request[0] == 0x16) {
		peer->greetings++;
	} else {
		if (size < sizeof(peer->log) - peer->logged) {
			memcpy(peer->log + peer->logged, request, size + 1);
			peer->logged += size;
		}
		answer = peer->gate ? peer->gate(peer, request) : NULL;
		answer = answer ? answer : peer_choose(peer, request);
		/* The table may be another one as soon as the lock is free. */
		copy = answer ? *answer : none;
	}
	(void)pthread_mutex_unlock(&peer->lock);
	if (request[0] != 0x16)
		peer_answer(fd, &copy);
}

static inline void *peer_main(void *user)
{
	struct peer *peer = user;
	int fd;

	while ((fd = accept4(peer->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		peer_serve(peer, fd);
		(void)shutdown(fd, SHUT_WR);
		(void)close(fd);
	}
	return NULL;
}

static inline void peer_start(struct peer *peer)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);

	memset(peer, 0, sizeof(*peer));
	(void)pthread_mutex_init(&peer->lock, NULL);
	peer->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(peer->listener >= 0);
	assert_int_equal(bind(peer->listener, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(peer->listener, 64), 0);
	assert_int_equal(getsockname(peer->listener, (struct sockaddr *)&address, &size),
			 0);
	(void)snprintf(peer->name, sizeof(peer->name), "127.0.0.1:%u",
		       ntohs(address.sin_port));
	assert_int_equal(pthread_create(&peer->thread, NULL, peer_main, peer), 0);
}

static inline void peer_stop(struct peer *peer)
{
	(void)shutdown(peer->listener, SHUT_RDWR);
	assert_int_equal(pthread_join(peer->thread, NULL), 0);
	(void)close(peer->listener);
	(void)pthread_mutex_destroy(&peer->lock);
}

/* What it answers from now on; the log begins anew. */
static inline void peer_set(struct peer *peer, struct peer_answer *answers, size_t count)
{
	(void)pthread_mutex_lock(&peer->lock);
	peer->answers = answers;
	peer->count = count;
	peer->logged = 0;
	peer->log[0] = '\0';
	(void)pthread_mutex_unlock(&peer->lock);
}

/* How often a text stands in the requests. */
static inline int peer_saw(struct peer *peer, const char *text)
{
	int count = 0;

	(void)pthread_mutex_lock(&peer->lock);
	for (const char *at = peer->log; (at = strstr(at, text)); at++)
		count++;
	(void)pthread_mutex_unlock(&peer->lock);
	return count;
}

#endif
