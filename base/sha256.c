/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"

#include <string.h>

/* FIPS 180-4, 4.2.2: the first 32 bits of the fractional parts of the cube roots of the
 * first 64 primes. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
    0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
    0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
    0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
    0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2,
};

/* 5.3.3 */
static const uint32_t first_state[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static uint32_t turn(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

/* 6.2.2, step 1: the message schedule. */
static void expand(const unsigned char *block, uint32_t w[64])
{
	for (size_t i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (size_t i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] +
		       (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
	}
}

static void take_block(struct sha256 *hash, const unsigned char *block)
{
	uint32_t *s = hash->state, w[64];
	uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6],
		 h = s[7];

	expand(block, w);
	for (size_t i = 0; i < 64; i++) {
		uint32_t choice = (e & f) ^ (~e & g),
			 majority = (a & b) ^ (a & c) ^ (b & c);
		uint32_t t1 = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice +
			      constants[i] + w[i];
		uint32_t t2 = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority;

		h = g;
		g = f;
		f = e;
		e = d + t1;
		d = c;
		c = b;
		b = a;
		a = t1 + t2;
	}
	s[0] += a;
	s[1] += b;
	s[2] += c;
	s[3] += d;
	s[4] += e;
	s[5] += f;
	s[6] += g;
	s[7] += h;
}

void sha256_init(struct sha256 *hash)
{
	memcpy(hash->state, first_state, sizeof(first_state));
	hash->bytes = 0;
}

void sha256_add(struct sha256 *hash, const void *data, size_t size)
{
	const unsigned char *at = data;

	while (size > 0) {
		size_t used = hash->bytes % sizeof(hash->block);
		size_t part = sizeof(hash->block) - used;

		if (used == 0 && size >= sizeof(hash->block)) {
			take_block(hash, at);
			part = sizeof(hash->block);
		} else {
			part = part < size ? part : size;
			memcpy(hash->block + used, at, part);
			if (used + part == sizeof(hash->block))
				take_block(hash, hash->block);
		}
		hash->bytes += part;
		at += part;
		size -= part;
	}
}

void sha256_finish(struct sha256 *hash, unsigned char digest[SHA256_SIZE])
{
	static const unsigned char padding[64] = {0x80};
	uint64_t bits = hash->bytes * 8;
	size_t used = hash->bytes % sizeof(hash->block);
	unsigned char length[8];

	for (size_t i = 0; i < sizeof(length); i++)
		length[i] = (unsigned char)(bits >> (56 - 8 * i));
	sha256_add(hash, padding, used < 56 ? 56 - used : 120 - used);
	sha256_add(hash, length, sizeof(length));
	for (size_t i = 0; i < SHA256_SIZE; i++)
		digest[i] = (unsigned char)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_hex(const unsigned char digest[SHA256_SIZE], char hex[SHA256_HEX])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < SHA256_SIZE; i++) {
		hex[2 * i] = digits[digest[i] >> 4];
		hex[2 * i + 1] = digits[digest[i] & 15];
	}
	hex[SHA256_HEX - 1] = '\0';
}
