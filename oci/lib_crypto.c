/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/lib_crypto.h"

#include "oci/library.h"

static struct lib_crypto table;

static const struct library_symbol symbols[] = {
    LIBRARY_SYMBOL(struct lib_crypto, context_new, OSSL_LIB_CTX_new),
    LIBRARY_SYMBOL(struct lib_crypto, fetch, EVP_MD_fetch),
    LIBRARY_SYMBOL(struct lib_crypto, run_new, EVP_MD_CTX_new),
    LIBRARY_SYMBOL(struct lib_crypto, run_free, EVP_MD_CTX_free),
    LIBRARY_SYMBOL(struct lib_crypto, begin, EVP_DigestInit_ex2),
    LIBRARY_SYMBOL(struct lib_crypto, add, EVP_DigestUpdate),
    LIBRARY_SYMBOL(struct lib_crypto, finish, EVP_DigestFinal_ex),
    LIBRARY_SYMBOL(struct lib_crypto, mark, ERR_set_mark),
    LIBRARY_SYMBOL(struct lib_crypto, forget, ERR_pop_to_mark),
};

static const char *const sonames[] = {"libcrypto.so.3", NULL};

static struct library library = {
    .use = "digests of images",
    .package = "libssl3",
    .sonames = sonames,
    .symbols = symbols,
    .count = sizeof(symbols) / sizeof(symbols[0]),
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

int lib_crypto(const struct lib_crypto **ret, struct husk_error *err)
{
	int rc = library_open(&library, &table, err);

	if (rc == 0)
		*ret = &table;
	return rc;
}
