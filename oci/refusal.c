/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/refusal.h"

#include "base/json_read.h"
#include "base/printable.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The error codes of the distribution spec. Only these are believed and repeated: free
 * text may hold what we sent. */
static const char *const codes[] = {
    "BLOB_UNKNOWN",	"BLOB_UPLOAD_INVALID", "DENIED",       "DIGEST_INVALID",
    "MANIFEST_INVALID", "MANIFEST_UNKNOWN",    "NAME_INVALID", "NAME_UNKNOWN",
    "SIZE_INVALID",	"TOOMANYREQUESTS",     "UNAUTHORIZED", "UNSUPPORTED",
};

/* The first code of an error document, or NULL. */
static const char *code_of(const struct http_answer *answer)
{
	const char *found = NULL, *code;
	json_t *root = NULL;

	if (answer->body.size == 0 ||
	    json_read(answer->body.data, answer->body.size, 0, &root, NULL) < 0)
		return NULL;
	code = json_string_value(
	    json_object_get(json_array_get(json_object_get(root, "errors"), 0), "code"));
	for (size_t i = 0; code && i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (strcmp(code, codes[i]) == 0)
			found = codes[i];
	}
	json_decref(root);
	return found;
}

static bool is_html(const struct http_answer *answer)
{
	const struct buffer *body = &answer->body;
	size_t at = 0;

	if (strncasecmp(answer->content_type, "text/html", 9) == 0)
		return true;
	while (at < body->size && isspace((unsigned char)body->data[at]))
		at++;
	return at < body->size && body->data[at] == '<';
}

/* The first line that says something, if it can hold nothing of ours. */
static void first_line(const struct refusal *refusal, const struct http_answer *answer,
		       char text[100])
{
	const char *body = answer->body.data ? answer->body.data : "";
	char line[81], shown[81];

	text[0] = '\0';
	body += strspn(body, " \t\r\n");
	if (refusal->known || *body == '\0')
		return;
	(void)snprintf(line, sizeof(line), "%.*s", (int)strcspn(body, "\r\n"), body);
	(void)snprintf(text, 100, ": %s", printable(shown, sizeof(shown), line));
}

static int no_registry(const struct refusal *refusal, const struct http_answer *answer,
		       struct husk_error *err)
{
	char line[100];
	int rc;

	first_line(refusal, answer, line);
	rc = error_set(err, HUSK_E_REGISTRY, refusal->registry,
		       "this is not a registry: it answers %ld with a page of HTML%s",
		       answer->status, line);
	error_hint(err,
		   "look at the name; a network that wants a log-in answers like this "
		   "too");
	return rc;
}

static int not_there(const struct refusal *refusal, const struct http_answer *answer,
		     struct husk_error *err)
{
	const char *code = code_of(answer);
	int rc;

	if (!code && is_html(answer))
		return no_registry(refusal, answer, err);
	if (code && strcmp(code, "NAME_UNKNOWN") == 0) {
		rc = error_set(err, HUSK_E_IMAGE, refusal->registry,
			       "there is no repository %s", refusal->repository);
		error_hint(err, "look at the spelling");
		return rc;
	}
	rc = error_set(err, HUSK_E_IMAGE, refusal->registry,
		       "the repository %s has no %s", refusal->repository, refusal->what);
	error_hint(err, "%s",
		   refusal->blob
		       ? "the image is not complete there"
		       : "look at the spelling of the repository and of the tag");
	return rc;
}

static int denied(const struct refusal *refusal, struct husk_error *err)
{
	int rc = error_set(err, HUSK_E_REGISTRY, refusal->registry,
			   "access to %s is denied", refusal->repository);

	error_hint(err, "%s",
		   refusal->known ? "the credentials do not give the right to read it"
				  : "log in to the registry, or look at the spelling");
	return rc;
}

int refusal_status(const struct refusal *refusal, const struct http_answer *answer,
		   struct husk_error *err)
{
	const char *code;
	int rc;

	switch (answer->status) {
	case 404:
		return not_there(refusal, answer, err);
	case 403:
		return denied(refusal, err);
	case 429:
		rc = error_set(err, HUSK_E_REGISTRY, refusal->registry,
			       "it answers 429: too many requests");
		error_hint(err,
			   "pull later, or with credentials: their limits are higher");
		return rc;
	default:
		break;
	}
	if (is_html(answer) && answer->status < 500)
		return no_registry(refusal, answer, err);
	code = code_of(answer);
	return error_set(err, HUSK_E_REGISTRY, refusal->registry,
			 "asked for %s of %s it answers %ld%s%s", refusal->what,
			 refusal->repository, answer->status, code ? ", " : "",
			 code ? code : "");
}

static bool is_compressed(const struct http_answer *answer)
{
	return answer->content_encoding[0] != '\0' &&
	       strcasecmp(answer->content_encoding, "identity") != 0;
}

int refusal_document(const struct refusal *refusal, const struct http_answer *answer,
		     struct husk_error *err)
{
	const struct buffer *body = &answer->body;
	char line[100], encoding[48];
	size_t at = 0;

	while (at < body->size && isspace((unsigned char)body->data[at]))
		at++;
	if (at < body->size && body->data[at] == '{')
		return 0;
	if (at == body->size)
		return error_set(err, HUSK_E_REGISTRY, refusal->registry,
				 "this is not a registry: its answer is empty");
	if (is_html(answer))
		return no_registry(refusal, answer, err);
	if (is_compressed(answer))
		return error_set(
		    err, HUSK_E_REGISTRY, refusal->registry,
		    "it compresses its answer (%s), which was not asked for",
		    printable(encoding, sizeof(encoding), answer->content_encoding));
	first_line(refusal, answer, line);
	return error_set(err, HUSK_E_REGISTRY, refusal->registry,
			 "this is not a registry: its answer is no JSON%s", line);
}
