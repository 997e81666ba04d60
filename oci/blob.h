/* SPDX-License-Identifier: Apache-2.0 */
/* One blob on its way into the store: a file that grows, one thread that writes it
 * (a download, an import) and one that reads behind it (the unpacker). The writer's bytes
 * are hashed as they come; nothing is in the store before all of them were. */
#ifndef OCI_BLOB_H
#define OCI_BLOB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "oci/digest.h"

struct blob; /* made by the store: store_blob_begin */

/* -- the writer's side -------------------------------------------------------------- */

/* How many bytes are there by now; at first those of an earlier pull that was cut, hashed
 * again. A download goes on from here by Range. Any thread. */
uint64_t blob_have(struct blob *blob);
/* Has the reader given up? A writer that waits for its source asks now and then, since
 * only its next blob_write would tell it. Any thread. */
bool blob_is_abandoned(struct blob *blob);
/* Append. HUSK_E_SYSTEM (a full disk, say), HUSK_E_TOO_BIG past the descriptor's size. */
int blob_write(struct blob *blob, const void *data, size_t size, struct husk_error *err);
/* Throw away what is there and begin at 0 (the server ignored Range). */
int blob_restart(struct blob *blob, struct husk_error *err);
/* The writer is done: size and digest are checked. HUSK_E_IMAGE on a mismatch; bytes of a
 * wrong digest are dropped, those of a blob that is too short stay. Readers see the end
 * or the failure. */
int blob_finish(struct blob *blob, struct husk_error *err);
/* The writer gives up: readers fail. What was written stays for the next time. Only the
 * first outcome counts, so this may follow a blob_finish. */
void blob_fail(struct blob *blob, const struct husk_error *why);

/* -- the reader's side -------------------------------------------------------------- */

/* Up to size bytes from offset, waiting until there is at least one, the end (0), or a
 * failure (negative, err filled in with the writer's). After a blob_restart offsets keep
 * their meaning: bytes that were read are the same ones if the digest is right at all. */
ssize_t blob_read(struct blob *blob, uint64_t offset, void *data, size_t size,
		  struct husk_error *err);
/* Wait until the writer has finished; its outcome. */
int blob_wait(struct blob *blob, struct husk_error *err);
/* The reader gives up: the writer's next blob_write fails with why. */
void blob_abandon(struct blob *blob, const struct husk_error *why);

#endif
