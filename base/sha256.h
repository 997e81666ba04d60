/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256, FIPS 180-4. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_SIZE = 32, SHA256_HEX = 65 };

struct sha256 {
	uint32_t state[8];
	uint64_t bytes; /* taken so far */
	unsigned char block[64];
};

void sha256_init(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *data, size_t size);
/* The digest; the hash may not be used again before sha256_init. */
void sha256_finish(struct sha256 *hash, unsigned char digest[SHA256_SIZE]);
/* A digest as 64 lower-case hexadecimal digits and a NUL. */
void sha256_hex(const unsigned char digest[SHA256_SIZE], char hex[SHA256_HEX]);

#endif
