/* SPDX-License-Identifier: Apache-2.0 */
/* For oci/http.c: handles of libcurl and the connections that hang on them, one for each
 * request that is under way. */
#ifndef OCI_HTTP_HANDLE_H
#define OCI_HTTP_HANDLE_H

#include <pthread.h>

#include "oci/lib_curl.h"

struct http_handle {
	CURLM *multi; /* keeps the connections */
	CURL *easy;
	char error[CURL_ERROR_SIZE];
	struct http_handle *next;
};

struct http_handles {
	pthread_mutex_t lock;
	struct http_handle *idle;
};

void http_handles_init(struct http_handles *handles);
void http_handles_deinit(struct http_handles *handles, const struct lib_curl *curl);
/* An idle handle or a new one; NULL: out of memory. */
struct http_handle *http_handle_take(struct http_handles *handles,
				     const struct lib_curl *curl);
/* Give it back; its connections stay open for the next request. */
void http_handle_give(struct http_handles *handles, struct http_handle *handle,
		      const struct lib_curl *curl);
struct http_handle *http_handle_free(struct http_handle *handle,
				     const struct lib_curl *curl);

/* Run the request that was set up on handle->easy. CURLE_*; CURLE_ABORTED_BY_CALLBACK
 * where stopped said so. */
CURLcode http_handle_run(struct http_handle *handle, const struct lib_curl *curl,
			 int (*stopped)(void *user), void *user);

#endif
