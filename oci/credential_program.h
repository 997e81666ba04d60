/* SPDX-License-Identifier: Apache-2.0 */
/* Credential helpers: the programs docker-credential-NAME that Docker's tools ask for
 * credentials. One is run without a shell, found in the directories that the caller
 * names and nowhere else; it gets the registry's name on its standard input, and an
 * environment that is made for it (PATH, HOME, the user's bus), since a library reads
 * nothing of its caller's. Its output and its time are bounded, what it says on its
 * standard error is dropped. Whether
 * the caller handles or ignores SIGCHLD, or waits for any child, makes no difference:
 * what counts then is the output. */
#ifndef OCI_CREDENTIAL_PROGRAM_H
#define OCI_CREDENTIAL_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "oci/credentials.h"

struct helper {
	const char *name;   /* what follows docker-credential- */
	const char *server; /* the key to ask for */
	const char *path;   /* where it may be; absolute directories, ":"-separated */
	int (*stopped)(void *user);
	void *user;
	unsigned timeout_s; /* 0: OCI_HELPER_TIMEOUT_S */
};

/* 0, where the helper knows none too (*ret stays empty); 1: there is no such program.
 * HUSK_E_REGISTRY where it fails. */
int helper_get(const struct helper *helper, struct credentials *ret,
	       struct husk_error *err);

/* What a helper's output means; status: its exit status, or negative where somebody else
 * has taken it away. As helper_get. */
int helper_parse(const char *name, const char *output, size_t size, int status,
		 struct credentials *ret, struct husk_error *err);

#endif
