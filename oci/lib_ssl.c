/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/lib_ssl.h"

#include "oci/library.h"

static struct lib_ssl table;

/* Those of libcrypto are found through libssl, which needs it. */
static const struct library_symbol symbols[] = {
    LIBRARY_SYMBOL(struct lib_ssl, get_param, SSL_CTX_get0_param),
    LIBRARY_SYMBOL(struct lib_ssl, set_hostflags, X509_VERIFY_PARAM_set_hostflags),
    LIBRARY_SYMBOL(struct lib_ssl, set_host, X509_VERIFY_PARAM_set1_host),
    LIBRARY_SYMBOL(struct lib_ssl, set_address, X509_VERIFY_PARAM_set1_ip_asc),
};

static const char *const sonames[] = {"libssl.so.3", NULL};

static struct library library = {
    .use = "registries",
    .package = "libssl3",
    .sonames = sonames,
    .symbols = symbols,
    .count = sizeof(symbols) / sizeof(symbols[0]),
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

int lib_ssl(const struct lib_ssl **ret, struct husk_error *err)
{
	int rc = library_open(&library, &table, err);

	if (rc == 0)
		*ret = &table;
	return rc;
}
