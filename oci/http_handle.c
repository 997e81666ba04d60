/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/http_handle.h"

#include "base/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { POLL_MS = 100 };

void http_handles_init(struct http_handles *handles)
{
	*handles = (struct http_handles){0};
	(void)pthread_mutex_init(&handles->lock, NULL);
}

struct http_handle *http_handle_free(struct http_handle *handle,
				     const struct lib_curl *curl)
{
	if (!handle)
		return NULL;
	if (handle->easy)
		curl->easy_cleanup(handle->easy);
	if (handle->multi)
		(void)curl->multi_cleanup(handle->multi);
	free(handle);
	return NULL;
}

void http_handles_deinit(struct http_handles *handles, const struct lib_curl *curl)
{
	while (handles->idle) {
		struct http_handle *next = handles->idle->next;

		http_handle_free(handles->idle, curl);
		handles->idle = next;
	}
	(void)pthread_mutex_destroy(&handles->lock);
}

struct http_handle *http_handle_take(struct http_handles *handles,
				     const struct lib_curl *curl)
{
	struct http_handle *handle;

	(void)pthread_mutex_lock(&handles->lock);
	handle = handles->idle;
	if (handle)
		handles->idle = handle->next;
	(void)pthread_mutex_unlock(&handles->lock);
	if (handle)
		return handle;
	handle = calloc(1, sizeof(*handle));
	if (!handle)
		return NULL;
	handle->multi = curl->multi_init();
	handle->easy = curl->easy_init();
	if (!handle->multi || !handle->easy)
		return http_handle_free(handle, curl);
	return handle;
}

void http_handle_give(struct http_handles *handles, struct http_handle *handle,
		      const struct lib_curl *curl)
{
	/* Options go, among them the Authorization header; connections stay. */
	curl->easy_reset(handle->easy);
	(void)pthread_mutex_lock(&handles->lock);
	handle->next = handles->idle;
	handles->idle = handle;
	(void)pthread_mutex_unlock(&handles->lock);
}

static CURLcode outcome(struct http_handle *handle, const struct lib_curl *curl)
{
	CURLMsg *message;
	int left;

	while ((message = curl->multi_info_read(handle->multi, &left))) {
		if (message->msg == CURLMSG_DONE)
			return message->data.result;
	}
	return CURLE_GOT_NOTHING;
}

static CURLcode loop(struct http_handle *handle, const struct lib_curl *curl,
		     int (*stopped)(void *user), void *user)
{
	uint64_t asked = 0;
	int running = 1;

	for (;;) {
		uint64_t now = (uint64_t)clock_ms();

		if (stopped && now - asked >= POLL_MS) {
			asked = now;
			if (stopped(user) != 0)
				return CURLE_ABORTED_BY_CALLBACK;
		}
		if (curl->multi_perform(handle->multi, &running) != CURLM_OK)
			return CURLE_OUT_OF_MEMORY;
		if (running == 0)
			return outcome(handle, curl);
		(void)curl->multi_poll(handle->multi, NULL, 0, POLL_MS, NULL);
	}
}

/* A TLS library may write to a socket that the other side has closed. SIGPIPE would end
 * the caller, whose signals are not ours to change: it is held back in this thread for as
 * long, and taken away if it came of that. */
struct sigpipe {
	sigset_t before;
	bool pending;
};

static void hold_sigpipe(struct sigpipe *held)
{
	sigset_t pipe;

	(void)sigemptyset(&pipe);
	(void)sigaddset(&pipe, SIGPIPE);
	(void)sigpending(&held->before);
	held->pending = sigismember(&held->before, SIGPIPE) == 1;
	(void)pthread_sigmask(SIG_BLOCK, &pipe, &held->before);
}

static void release_sigpipe(const struct sigpipe *held)
{
	static const struct timespec at_once;
	sigset_t pipe;

	(void)sigemptyset(&pipe);
	(void)sigaddset(&pipe, SIGPIPE);
	if (!held->pending) {
		while (sigtimedwait(&pipe, NULL, &at_once) < 0 && errno == EINTR)
			;
	}
	(void)pthread_sigmask(SIG_SETMASK, &held->before, NULL);
}

CURLcode http_handle_run(struct http_handle *handle, const struct lib_curl *curl,
			 int (*stopped)(void *user), void *user)
{
	struct sigpipe held;
	CURLcode code = CURLE_OUT_OF_MEMORY;

	hold_sigpipe(&held);
	if (curl->multi_add_handle(handle->multi, handle->easy) == CURLM_OK) {
		code = loop(handle, curl, stopped, user);
		/* A name that is being resolved is not waited for. */
		if (code == CURLE_ABORTED_BY_CALLBACK)
			(void)curl->easy_setopt(handle->easy, CURLOPT_QUICK_EXIT, 1L);
		(void)curl->multi_remove_handle(handle->multi, handle->easy);
	}
	release_sigpipe(&held);
	return code;
}
