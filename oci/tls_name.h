/* SPDX-License-Identifier: Apache-2.0 */
/* Is a certificate for this host? libcurl compares names itself, and where a certificate
 * has none of the right kind it goes by the subject's common name, which means nothing
 * any more (RFC 9110 section 4.3.4). So OpenSSL is told to compare as well, without it.
 */
#ifndef OCI_TLS_NAME_H
#define OCI_TLS_NAME_H

#include <stdbool.h>

#include "oci/lib_curl.h"
#include "oci/url.h"

/* Set it up on a handle, for a direct connection to url, which must outlive the transfer.
 * False: out of memory. With another TLS library than OpenSSL 3 nothing is done. */
bool tls_name_check(const struct lib_curl *curl, CURL *easy, const struct url *url);

#endif
