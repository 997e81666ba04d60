/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/lib_curl.h"

#include "oci/library.h"

#include <stdbool.h>

static struct lib_curl table;

static const struct library_symbol symbols[] = {
    LIBRARY_SYMBOL(struct lib_curl, global_init, curl_global_init),
    LIBRARY_SYMBOL(struct lib_curl, version_info, curl_version_info),
    LIBRARY_SYMBOL(struct lib_curl, easy_init, curl_easy_init),
    LIBRARY_SYMBOL(struct lib_curl, easy_setopt, curl_easy_setopt),
    LIBRARY_SYMBOL(struct lib_curl, easy_getinfo, curl_easy_getinfo),
    LIBRARY_SYMBOL(struct lib_curl, easy_reset, curl_easy_reset),
    LIBRARY_SYMBOL(struct lib_curl, easy_cleanup, curl_easy_cleanup),
    LIBRARY_SYMBOL(struct lib_curl, easy_strerror, curl_easy_strerror),
    LIBRARY_SYMBOL(struct lib_curl, easy_escape, curl_easy_escape),
    LIBRARY_SYMBOL(struct lib_curl, free, curl_free),
    LIBRARY_SYMBOL(struct lib_curl, slist_append, curl_slist_append),
    LIBRARY_SYMBOL(struct lib_curl, slist_free_all, curl_slist_free_all),
    LIBRARY_SYMBOL(struct lib_curl, multi_init, curl_multi_init),
    LIBRARY_SYMBOL(struct lib_curl, multi_add_handle, curl_multi_add_handle),
    LIBRARY_SYMBOL(struct lib_curl, multi_remove_handle, curl_multi_remove_handle),
    LIBRARY_SYMBOL(struct lib_curl, multi_perform, curl_multi_perform),
    LIBRARY_SYMBOL(struct lib_curl, multi_poll, curl_multi_poll),
    LIBRARY_SYMBOL(struct lib_curl, multi_info_read, curl_multi_info_read),
    LIBRARY_SYMBOL(struct lib_curl, multi_cleanup, curl_multi_cleanup),
};

static const char *const sonames[] = {"libcurl.so.4", "libcurl-gnutls.so.4", NULL};

static struct library library = {
    .use = "registries",
    .package = "libcurl4",
    .sonames = sonames,
    .symbols = symbols,
    .count = sizeof(symbols) / sizeof(symbols[0]),
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

/* CURLOPT_PROTOCOLS_STR, without which a URL could name any protocol that curl knows. */
enum { OLDEST = 0x075500 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool ready;

/* Once for the process, under our own lock: the caller may use libcurl as well, and
 * counts for itself. */
static int initialise(struct husk_error *err)
{
	const curl_version_info_data *info;
	int rc;

	if (ready)
		return 0;
	info = table.version_info(CURLVERSION_NOW);
	if (info->version_num < OLDEST) {
		rc = error_set(err, HUSK_E_SYSTEM, "libcurl",
			       "%s is too old for registries: 7.85 or later is needed",
			       info->version);
		error_hint(err, "install a newer %s", library.package);
		return rc;
	}
	if (table.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return error_set(err, HUSK_E_SYSTEM, "libcurl",
				 "it cannot be initialised");
	ready = true;
	return 0;
}

int lib_curl(const struct lib_curl **ret, struct husk_error *err)
{
	int rc = library_open(&library, &table, err);

	if (rc < 0)
		return rc;
	(void)pthread_mutex_lock(&lock);
	rc = initialise(err);
	(void)pthread_mutex_unlock(&lock);
	if (rc == 0)
		*ret = &table;
	return rc;
}
