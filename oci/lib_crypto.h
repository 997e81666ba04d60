/* SPDX-License-Identifier: Apache-2.0 */
/* libcrypto (OpenSSL 3), for digests: it uses the processor's own instructions. */
#ifndef OCI_LIB_CRYPTO_H
#define OCI_LIB_CRYPTO_H

#include <openssl/err.h>
#include <openssl/evp.h>

#include "base/error.h"

struct lib_crypto {
	typeof(OSSL_LIB_CTX_new) *context_new;
	typeof(EVP_MD_fetch) *fetch;
	typeof(EVP_MD_CTX_new) *run_new;
	typeof(EVP_MD_CTX_free) *run_free;
	typeof(EVP_DigestInit_ex2) *begin;
	typeof(EVP_DigestUpdate) *add;
	typeof(EVP_DigestFinal_ex) *finish;
	typeof(ERR_set_mark) *mark;
	typeof(ERR_pop_to_mark) *forget; /* errors since mark */
};

/* *ret lives for ever. HUSK_E_SYSTEM with the remedy where it is not installed. */
int lib_crypto(const struct lib_crypto **ret, struct husk_error *err);

#endif
