/* SPDX-License-Identifier: Apache-2.0 */
/* libssl (OpenSSL 3), where libcurl is built on it: for the one check that libcurl leaves
 * out. */
#ifndef OCI_LIB_SSL_H
#define OCI_LIB_SSL_H

#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "base/error.h"

struct lib_ssl {
	typeof(SSL_CTX_get0_param) *get_param;
	typeof(X509_VERIFY_PARAM_set_hostflags) *set_hostflags;
	typeof(X509_VERIFY_PARAM_set1_host) *set_host;
	typeof(X509_VERIFY_PARAM_set1_ip_asc) *set_address;
};

/* *ret lives for ever. HUSK_E_SYSTEM with the remedy where it is not installed. */
int lib_ssl(const struct lib_ssl **ret, struct husk_error *err);

#endif
