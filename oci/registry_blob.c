/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/registry_blob.h"

#include "oci/refusal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A number at *at, which moves behind it. */
static bool take_number(const char **at, uint64_t *ret)
{
	uint64_t number = 0;

	if (!isdigit((unsigned char)(*at)[0]))
		return false;
	for (; isdigit((unsigned char)(*at)[0]); (*at)++) {
		if (number > (UINT64_MAX - 9) / 10)
			return false;
		number = number * 10 + (uint64_t)((*at)[0] - '0');
	}
	*ret = number;
	return true;
}

bool content_range_fits(const char *value, uint64_t from, uint64_t size)
{
	uint64_t first, last, whole;

	if (strncasecmp(value, "bytes", 5) != 0)
		return false;
	value += 5;
	value += strspn(value, " \t");
	if (!take_number(&value, &first) || *value++ != '-' ||
	    !take_number(&value, &last) || *value++ != '/')
		return false;
	if (strcmp(value, "*") == 0)
		whole = size;
	else if (!take_number(&value, &whole) || *value != '\0')
		return false;
	return first == from && last >= first && last < size && whole == size;
}

/* What is there is of no use to this answer. */
static int start_over(struct blob_transfer *transfer, struct husk_error *err)
{
	int rc = blob_restart(transfer->blob, err);

	transfer->failed = rc < 0;
	return rc;
}

static int begin(void *user, const struct http_answer *answer, struct husk_error *err)
{
	struct blob_transfer *transfer = user;
	int rc;

	if (answer->status == 200)
		return transfer->asked > 0 || blob_have(transfer->blob) > 0
			   ? start_over(transfer, err)
			   : 0;
	if (answer->status != 206 && (answer->status != 416 || transfer->asked == 0))
		return 0;
	if (answer->status == 206 && transfer->asked > 0 &&
	    content_range_fits(answer->content_range, transfer->asked,
			       transfer->what->size))
		return 0;
	transfer->no_range = true;
	rc = start_over(transfer, err);
	return rc < 0 ? rc : 1;
}

static int take(void *user, const void *data, size_t size, struct husk_error *err)
{
	struct blob_transfer *transfer = user;
	int rc = blob_write(transfer->blob, data, size, err);

	transfer->failed = rc < 0;
	if (rc == 0 && transfer->progress)
		transfer->progress(transfer->user, blob_have(transfer->blob));
	return rc;
}

static uint64_t from(void *user)
{
	struct blob_transfer *transfer = user;
	uint64_t have = blob_have(transfer->blob);

	transfer->asked = transfer->no_range ? 0 : have;
	return transfer->asked;
}

static bool complete(void *user)
{
	const struct blob_transfer *transfer = user;

	return blob_have(transfer->blob) == transfer->what->size;
}

int blob_transfer_run(struct blob_transfer *transfer, struct endpoint *endpoint,
		      struct husk_error *err)
{
	const struct http_sink sink = {begin, take, transfer};
	CLEANUP_ANSWER struct http_answer answer;
	char path[REFERENCE_NAME + DIGEST_TEXT + 32], digest[DIGEST_TEXT];
	char what[DIGEST_TEXT + 16];
	struct endpoint_request request = {
	    .path = path,
	    .sink = &sink,
	    .from = from,
	    .complete = complete,
	    .user = transfer,
	};
	struct refusal refusal = {endpoint->name, transfer->repository, what, true,
				  false};
	int rc;

	http_answer_init(&answer);
	if (complete(transfer))
		return 0;
	digest_text(&transfer->what->digest, digest);
	(void)snprintf(path, sizeof(path), "/v2/%s/blobs/%s", transfer->repository,
		       digest);
	(void)snprintf(what, sizeof(what), "blob %s", digest);
	rc = endpoint_get(endpoint, &request, &answer, err);
	if (rc < 0)
		return rc;
	if (answer.status == 200 || answer.status == 206)
		return 0;
	refusal.known = auth_has_credentials(&endpoint->auth);
	return refusal_status(&refusal, &answer, err);
}
