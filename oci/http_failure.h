/* SPDX-License-Identifier: Apache-2.0 */
/* What went wrong on the wire, in words: the cause and the remedy. */
#ifndef OCI_HTTP_FAILURE_H
#define OCI_HTTP_FAILURE_H

#include "oci/http.h"
#include "oci/lib_curl.h"

struct wire_failure {
	CURLcode code;
	long os_errno;	   /* of a connection that was not made, or 0 */
	long verify;	   /* X509_V_ERR_*, or 0 */
	bool connected;	   /* it got as far as a connection */
	const char *text;  /* libcurl's own words, "" */
	const char *proxy; /* non-NULL where one was used */
	unsigned stall_s;  /* the bounds in force */
	unsigned connect_s;
	unsigned whole_s;
};

/* Fill in err; *ret says what kind it is. Returns HUSK_E_REGISTRY or HUSK_E_MEMORY. */
int http_failure(const struct url *url, const struct wire_failure *failure,
		 enum http_failure *ret, struct husk_error *err);

#endif
