/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/digest.h"

#include "base/sha256.h"
#include "oci/lib_crypto.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;    /* as it stands before the colon */
	const char *openssl; /* as libcrypto calls it */
	size_t hex;
} algorithms[] = {
    [DIGEST_SHA256] = {"sha256", "SHA2-256", 64},
    [DIGEST_SHA512] = {"sha512", "SHA2-512", 128},
};

enum { ALGORITHMS = sizeof(algorithms) / sizeof(algorithms[0]) };

/* -- text -- */

static bool is_hex(const char *text, size_t size)
{
	return strspn(text, "0123456789abcdef") == size && text[size] == '\0';
}

/* algorithm ::= component (separator component)*, separator ::= [+._-]; then ':' and at
 * least one of [a-zA-Z0-9=_-] (image-spec, descriptor.md). */
static bool is_well_formed(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	static const char encoded[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz0123456789=_-";

	for (;;) {
		size_t part = strspn(text, letters);

		if (part == 0)
			return false;
		text += part;
		if (*text == ':')
			break;
		if (*text == '\0' || !strchr("+._-", *text))
			return false;
		text++;
	}
	text++;
	return *text != '\0' && text[strspn(text, encoded)] == '\0';
}

int digest_parse(const char *text, struct digest *ret)
{
	for (int i = DIGEST_NONE + 1; i < ALGORITHMS; i++) {
		const size_t name = strlen(algorithms[i].name);

		if (strncmp(text, algorithms[i].name, name) != 0 || text[name] != ':')
			continue;
		if (!is_hex(text + name + 1, algorithms[i].hex))
			return -EINVAL;
		*ret = (struct digest){.algorithm = (enum digest_algorithm)i};
		memcpy(ret->hex, text + name + 1, algorithms[i].hex);
		return 0;
	}
	return is_well_formed(text) ? -ENOTSUP : -EINVAL;
}

const char *digest_algorithm_name(enum digest_algorithm algorithm)
{
	const char *name =
	    (size_t)algorithm < ALGORITHMS ? algorithms[algorithm].name : NULL;

	return name ? name : "none";
}

void digest_text(const struct digest *digest, char text[DIGEST_TEXT])
{
	if (digest->algorithm == DIGEST_NONE)
		text[0] = '\0';
	else
		(void)snprintf(text, DIGEST_TEXT, "%s:%s",
			       digest_algorithm_name(digest->algorithm), digest->hex);
}

bool digest_equal(const struct digest *a, const struct digest *b)
{
	return a->algorithm == b->algorithm && strcmp(a->hex, b->hex) == 0;
}

/* -- computation -- */

/* A document is hashed sooner than libcrypto is loaded, and a run on an image that is
 * there reads nothing larger. */
enum { SMALL = 128 << 10 };

struct digest_run {
	enum digest_algorithm algorithm;
	const struct lib_crypto *crypto; /* NULL: base/sha256 */
	EVP_MD_CTX *run;
	bool broken; /* libcrypto refused something: the digest will match nothing */
	struct sha256 own;
};

static pthread_mutex_t fetch_lock = PTHREAD_MUTEX_INITIALIZER;
static EVP_MD *fetched[ALGORITHMS];

/* The implementations, found once, in a context of our own: OpenSSL's default context
 * belongs to the process that we are a guest of, with providers and properties that it
 * has chosen. */
static EVP_MD *implementation(const struct lib_crypto *crypto,
			      enum digest_algorithm algorithm)
{
	static OSSL_LIB_CTX *context;
	EVP_MD *md;

	(void)pthread_mutex_lock(&fetch_lock);
	if (!context)
		context = crypto->context_new();
	if (context && !fetched[algorithm])
		fetched[algorithm] =
		    crypto->fetch(context, algorithms[algorithm].openssl, NULL);
	md = fetched[algorithm];
	(void)pthread_mutex_unlock(&fetch_lock);
	return md;
}

static EVP_MD_CTX *begin(const struct lib_crypto *crypto, enum digest_algorithm algorithm)
{
	const EVP_MD *md = implementation(crypto, algorithm);
	EVP_MD_CTX *made = md ? crypto->run_new() : NULL;

	if (made && crypto->begin(made, md, NULL) != 1) {
		crypto->run_free(made);
		made = NULL;
	}
	return made;
}

/* libcrypto's part of a new run. It fails for want of memory alone, and what it then
 * writes to this thread's list of errors would confuse others who look there. */
static int begin_quietly(const struct lib_crypto *crypto, struct digest_run *run)
{
	(void)crypto->mark();
	run->run = begin(crypto, run->algorithm);
	(void)crypto->forget();
	if (!run->run)
		return -ENOMEM;
	run->crypto = crypto;
	return 0;
}

int digest_run_new(enum digest_algorithm algorithm, struct digest_run **ret,
		   struct husk_error *err)
{
	const struct lib_crypto *crypto = NULL;
	const bool needed = algorithm != DIGEST_SHA256;
	struct digest_run *run;
	int rc;

	if (algorithm == DIGEST_NONE || (size_t)algorithm >= ALGORITHMS)
		return error_set(err, HUSK_E_INVALID, "digest", "of no algorithm");
	rc = lib_crypto(&crypto, needed ? err : NULL);
	if (rc < 0 && needed)
		return rc;
	run = calloc(1, sizeof(*run));
	if (!run)
		return error_oom(err, "digest");
	run->algorithm = algorithm;
	if (crypto && begin_quietly(crypto, run) < 0 && needed) {
		free(run);
		return error_oom(err, "digest");
	}
	sha256_init(&run->own);
	*ret = run;
	return 0;
}

void digest_run_add(struct digest_run *run, const void *data, size_t size)
{
	if (!run->crypto)
		sha256_add(&run->own, data, size);
	else if (run->crypto->add(run->run, data, size) != 1)
		run->broken = true;
}

void digest_run_finish(struct digest_run *run, struct digest *ret)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char raw[EVP_MAX_MD_SIZE] = {0};
	unsigned size = 0;

	if (!run->crypto) {
		sha256_finish(&run->own, raw);
		size = SHA256_SIZE;
	} else if (run->crypto->finish(run->run, raw, &size) != 1) {
		run->broken = true;
	}
	*ret = (struct digest){.algorithm = run->algorithm};
	if (run->broken || size * 2 != algorithms[run->algorithm].hex)
		return;
	for (unsigned i = 0; i < size; i++) {
		ret->hex[2 * i] = digits[raw[i] >> 4];
		ret->hex[2 * i + 1] = digits[raw[i] & 15];
	}
}

struct digest_run *digest_run_free(struct digest_run *run)
{
	if (run && run->crypto)
		run->crypto->run_free(run->run);
	free(run);
	return NULL;
}

int digest_of(enum digest_algorithm algorithm, const void *data, size_t size,
	      struct digest *ret, struct husk_error *err)
{
	struct digest_run *run;
	int rc;

	if (algorithm == DIGEST_SHA256 && size <= SMALL) {
		unsigned char raw[SHA256_SIZE];
		struct sha256 own;

		sha256_init(&own);
		sha256_add(&own, data, size);
		sha256_finish(&own, raw);
		*ret = (struct digest){.algorithm = DIGEST_SHA256};
		sha256_hex(raw, ret->hex);
		return 0;
	}
	rc = digest_run_new(algorithm, &run, err);
	if (rc < 0)
		return rc;
	digest_run_add(run, data, size);
	digest_run_finish(run, ret);
	digest_run_free(run);
	return 0;
}
