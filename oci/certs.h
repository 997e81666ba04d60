/* SPDX-License-Identifier: Apache-2.0 */
/* Whom we trust for TLS: the system's CAs, an extra one that the caller names, and what
 * certs.d/HOST[:PORT] holds: *.crt are CAs, *.cert with *.key of the same name is the
 * client's own pair. They are good for what this registry asks of others as well (its
 * token server, its storage); the client's pair is shown to the registry alone. */
#ifndef OCI_CERTS_H
#define OCI_CERTS_H

#include "base/error.h"

struct certs {
	int bundle;	  /* memory file of all CAs, or -1: the system's is enough */
	char ca_file[64]; /* what to give to libcurl; "" where there are no CAs */
	char *certificate, *key; /* heap; paths, or NULL */
};

#define CERTS_INIT ((struct certs){.bundle = -1})

/* dirs: ":"-separated; NULL: /etc/docker/certs.d and /etc/containers/certs.d. tls_ca may
 * be NULL. HUSK_E_SYSTEM (unreadable), HUSK_E_INVALID (a file without its partner, a
 * directory or file that everybody may write to, no certificate in it), HUSK_E_MEMORY. */
int certs_load(const char *registry, const char *tls_ca, const char *dirs,
	       struct certs *ret, struct husk_error *err);
void certs_deinit(struct certs *certs);

#endif
