/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/credentials.h"

#include "base/base64.h"
#include "base/fd.h"
#include "base/json_read.h"
#include "oci/bounds.h"
#include "oci/credential_program.h"
#include "oci/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>

static const char where[] = "credentials";

/* What a question is about. */
struct question {
	const struct credential_places *places;
	const char *registry, *repository;
	const char *file; /* the one that is being looked at */
};

void credentials_deinit(struct credentials *credentials)
{
	credentials->user = secret_free(credentials->user);
	credentials->password = secret_free(credentials->password);
	credentials->identity_token = secret_free(credentials->identity_token);
	credentials->registry_token = secret_free(credentials->registry_token);
}

bool credentials_any(const struct credentials *credentials)
{
	return credentials->user || credentials->identity_token ||
	       credentials->registry_token;
}

static int read_all(int fd, const char *file, struct buffer *text, struct husk_error *err)
{
	ssize_t n = 1;

	while (n > 0) {
		char *at = buffer_reserve(text, 4096);

		if (!at)
			return error_set(err, HUSK_E_TOO_BIG, file,
					 "a credentials file of more than %d MiB",
					 (int)(OCI_MAX_AUTH_FILE / OCI_MIB));
		n = fd_read_full(fd, at, 4096);
		if (n < 0)
			return error_sys(err, (int)-n, file, "cannot be read");
		text->size += (size_t)n;
	}
	return 0;
}

/* 0, 1 where there is no such file, or negative. */
static int read_file(const char *file, struct buffer *text, struct husk_error *err)
{
	CLEANUP_FD int fd =
	    openat(AT_FDCWD, file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 1;
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_sys(err, errno, file, "the credentials file cannot be read");
	/* /dev/null is a way to say "none". */
	if (!S_ISREG(st.st_mode) && !S_ISCHR(st.st_mode))
		return error_set(err, HUSK_E_INVALID, file,
				 "the credentials file is no regular file");
	return read_all(fd, file, text, err);
}

/* The member of an object whose key fits best, and that key. */
static json_t *best(json_t *object, const struct question *question, const char **ret_key)
{
	json_t *value, *found = NULL;
	const char *key;
	int most = 0;

	json_object_foreach(object, key, value)
	{
		int fits =
		    credentials_key_fits(key, question->registry, question->repository);

		if (fits > most) {
			most = fits;
			found = value;
			*ret_key = key;
		}
	}
	return found;
}

/* "user:password" in base64, as docker login writes it. */
static int decode(const char *encoded, const struct question *question,
		  struct credentials *found, struct husk_error *err)
{
	CLEANUP_SECRET_BUFFER struct buffer text = BUFFER_INIT(OCI_MAX_AUTH_FILE);
	char *colon;

	if (base64_read(&text, encoded) < 0 || !text.data ||
	    !(colon = memchr(text.data, ':', text.size)))
		return error_set(err, HUSK_E_INVALID, question->file,
				 "the \"auth\" of %s is no user:password in base64",
				 question->registry);
	found->user = strndup(text.data, (size_t)(colon - text.data));
	/* Some tools have padded it with NULs: a password ends at the first. */
	found->password = strdup(colon + 1);
	if (!found->user || !found->password)
		return error_oom(err, where);
	return 0;
}

/* Take a member of an entry, if it is there and not empty. */
static bool copy(json_t *entry, const char *name, char **to)
{
	const char *text = json_string_value(json_object_get(entry, name));

	if (!text || text[0] == '\0')
		return true;
	*to = secret_free(*to);
	*to = strdup(text);
	return *to != NULL;
}

static int take_entry(json_t *entry, const struct question *question,
		      struct credentials *found, struct husk_error *err)
{
	const char *auth = json_string_value(json_object_get(entry, "auth"));
	int rc = 0;

	if (auth && auth[0] != '\0')
		rc = decode(auth, question, found, err);
	if (rc < 0)
		return rc;
	if (!copy(entry, "username", &found->user) ||
	    !copy(entry, "password", &found->password) ||
	    !copy(entry, "identitytoken", &found->identity_token) ||
	    !copy(entry, "registrytoken", &found->registry_token))
		return error_oom(err, where);
	if (found->user && !found->password) {
		found->password = strdup("");
		if (!found->password)
			return error_oom(err, where);
	}
	return 0;
}

static const char *default_server(const char *registry)
{
	return credentials_key_fits("docker.io", registry, "")
		   ? "https://index.docker.io/v1/"
		   : registry;
}

/* The helper that this file names for the registry. required: the registry is known here,
 * so a helper that is not there is an error. 0, 1 where it is not there and need not be.
 */
static int ask_helper(const char *name, const char *server, bool required,
		      const struct question *question, struct credentials *ret,
		      struct husk_error *err)
{
	const struct credential_places *places = question->places;
	const struct helper helper = {
	    .name = name,
	    .server = server,
	    .path = places->helper_path ? places->helper_path : "",
	    .stopped = places->stopped,
	    .user = places->user,
	};
	int rc = helper_get(&helper, ret, err);

	if (rc != 1 || !required)
		return rc;
	rc = error_set(err, HUSK_E_REGISTRY, question->file,
		       "the credentials of %s are kept by docker-credential-%s, which is "
		       "not %s",
		       question->registry, name,
		       places->helper_path ? "found" : "to be run");
	error_hint(err, "install it, or give a credentials file that holds them itself");
	return rc;
}

/* 0: this file decides; 1: it does not know the registry. */
static int look_into(json_t *root, const struct question *question,
		     struct credentials *ret, struct husk_error *err)
{
	const char *helper_key = NULL, *auth_key = NULL;
	json_t *auths = json_object_get(root, "auths");
	json_t *helper =
	    best(json_object_get(root, "credHelpers"), question, &helper_key);
	json_t *entry = best(auths, question, &auth_key);
	const char *store = json_string_value(json_object_get(root, "credsStore"));
	const char *name = json_string_value(helper);
	const char *server = default_server(question->registry);
	int rc = 1;

	if (name && name[0] != '\0')
		return ask_helper(name, server, true, question, ret, err);
	if (store && store[0] != '\0') {
		/* The registry was logged in to under the name that auths has. */
		rc = ask_helper(store, auth_key ? auth_key : server,
				auth_key && json_object_size(entry) == 0, question, ret,
				err);
		if (rc < 0 || credentials_any(ret))
			return rc;
	}
	if (!entry)
		return 1;
	if (!json_is_object(entry))
		return error_set(err, HUSK_E_INVALID, question->file,
				 "the entry of %s in auths is no object",
				 question->registry);
	return take_entry(entry, question, ret, err);
}

static int look_into_file(const struct question *question, struct credentials *ret,
			  struct husk_error *err)
{
	CLEANUP_SECRET_BUFFER struct buffer text = BUFFER_INIT(OCI_MAX_AUTH_FILE + 4096);
	json_error_t bad;
	json_t *root = NULL;
	int rc = read_file(question->file, &text, err);

	if (rc != 0)
		return rc;
	if (text.size == 0)
		return 1;
	rc = json_read(text.data, text.size, JSON_REJECT_DUPLICATES, &root, &bad);
	/* jansson's own words quote the file. */
	if (rc == -ENOMEM)
		rc = error_oom(err, question->file);
	else if (rc < 0)
		rc = error_set(err, HUSK_E_INVALID, question->file,
			       "the credentials file is no JSON: line %d", bad.line);
	else if (!json_is_object(root))
		rc = error_set(err, HUSK_E_INVALID, question->file,
			       "the credentials file is no JSON object");
	else
		rc = look_into(root, question, ret, err);
	json_decref(root);
	return rc;
}

int credentials_find(const struct credential_places *places, const char *registry,
		     const char *repository, struct credentials *ret,
		     struct husk_error *err)
{
	struct question question = {
	    .places = places,
	    .registry = registry,
	    .repository = repository,
	};
	struct credentials found = {0};
	int rc = 1;

	for (size_t i = 0; places->files && places->files[i] && rc == 1; i++) {
		question.file = places->files[i];
		rc = look_into_file(&question, &found, err);
	}
	if (rc < 0) {
		credentials_deinit(&found);
		return rc;
	}
	*ret = found;
	return 0;
}
