/* SPDX-License-Identifier: Apache-2.0 */
/* The store's side of a blob on its way (oci/blob.h): how it begins and ends. */
#ifndef OCI_BLOB_FILE_H
#define OCI_BLOB_FILE_H

#include <stdint.h>

#include "oci/blob.h"

/* Takes fd: a file that is open for reading and writing, whose first bytes (no more than
 * size) count and are hashed again. where names the blob in messages; owner is only
 * remembered. On failure fd is closed. */
struct store;
int blob_new(int fd, const struct digest *digest, uint64_t size, const char *where,
	     struct store *owner, struct blob **ret, struct husk_error *err);
/* Accepts NULL, returns NULL; closes the file. Neither side may be at it any more. */
struct blob *blob_free(struct blob *blob);
struct store *blob_owner(const struct blob *blob);

/* Did blob_finish succeed? */
bool blob_is_whole(struct blob *blob);
int blob_fd(const struct blob *blob);
const struct digest *blob_digest(const struct blob *blob);

#endif
