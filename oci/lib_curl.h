/* SPDX-License-Identifier: Apache-2.0 */
/* libcurl, for registries. */
#ifndef OCI_LIB_CURL_H
#define OCI_LIB_CURL_H

/* Its macros around the variadic calls check types, but only for linked functions. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "base/error.h"

struct lib_curl {
	typeof(curl_global_init) *global_init;
	typeof(curl_version_info) *version_info;
	typeof(curl_easy_init) *easy_init;
	typeof(curl_easy_setopt) *easy_setopt;
	typeof(curl_easy_getinfo) *easy_getinfo;
	typeof(curl_easy_reset) *easy_reset;
	typeof(curl_easy_cleanup) *easy_cleanup;
	typeof(curl_easy_strerror) *easy_strerror;
	typeof(curl_easy_escape) *easy_escape;
	typeof(curl_free) *free;
	typeof(curl_slist_append) *slist_append;
	typeof(curl_slist_free_all) *slist_free_all;
	typeof(curl_multi_init) *multi_init;
	typeof(curl_multi_add_handle) *multi_add_handle;
	typeof(curl_multi_remove_handle) *multi_remove_handle;
	typeof(curl_multi_perform) *multi_perform;
	typeof(curl_multi_poll) *multi_poll;
	typeof(curl_multi_info_read) *multi_info_read;
	typeof(curl_multi_cleanup) *multi_cleanup;
};

/* *ret lives for ever, and libcurl is initialised. HUSK_E_SYSTEM with the remedy where it
 * is not installed. Any thread. */
int lib_curl(const struct lib_curl **ret, struct husk_error *err);

#endif
