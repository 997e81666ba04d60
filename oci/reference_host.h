/* SPDX-License-Identifier: Apache-2.0 */
/* The registry's part of a name: a host and perhaps a port. */
#ifndef OCI_REFERENCE_HOST_H
#define OCI_REFERENCE_HOST_H

#include "base/error.h"

/* Is it "host[:port]", where the host is a domain name, an IPv4 address or an IPv6
 * address in brackets? HUSK_E_INVALID says what is wrong with it. */
int reference_check_host(const char *domain, const char *where, struct husk_error *err);

#endif
