/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/certs.h"

#include "base/buffer.h"
#include "base/fd.h"
#include "base/memory.h"
#include "oci/bounds.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where distributions keep the CAs: Debian and Ubuntu, Fedora and RHEL, SUSE, Alpine. */
static const char *const system_bundles[] = {
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
};

static const char standard_dirs[] = "/etc/docker/certs.d:/etc/containers/certs.d";

/* What is being put together. */
struct collection {
	struct buffer pem;
	char *certificate, *key;
};

void certs_deinit(struct certs *certs)
{
	fd_close(&certs->bundle);
	free(certs->certificate);
	free(certs->key);
	*certs = CERTS_INIT;
}

static const char *system_bundle(void)
{
	for (size_t i = 0; i < sizeof(system_bundles) / sizeof(system_bundles[0]); i++) {
		if (faccessat(AT_FDCWD, system_bundles[i], R_OK, AT_EACCESS) == 0)
			return system_bundles[i];
	}
	return NULL;
}

/* Whom everybody may write to, nobody should trust. */
static int check_writable(int fd, const char *path, struct husk_error *err)
{
	struct stat st;
	int rc;

	if (fstat(fd, &st) < 0)
		return error_sys(err, errno, path, "cannot be read");
	if (!(st.st_mode & S_IWOTH) || S_ISCHR(st.st_mode))
		return 0;
	rc = error_set(err, HUSK_E_INVALID, path,
		       "everybody may write to it, so it says nothing about trust");
	error_hint(err, "chmod o-w %s", path);
	return rc;
}

/* Append a PEM file. */
static int add_file(int dir, const char *name, const char *path, struct buffer *pem,
		    struct husk_error *err)
{
	CLEANUP_FD int fd =
	    openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	size_t before = pem->size;
	ssize_t n = 1;
	int rc;

	if (fd < 0)
		return error_sys(err, errno, path, "the certificate cannot be read");
	rc = check_writable(fd, path, err);
	if (rc < 0)
		return rc;
	while (n > 0) {
		char *at = buffer_reserve(pem, 4096);

		if (!at)
			return error_set(err, HUSK_E_TOO_BIG, path,
					 "more than %d MiB of certificates",
					 (int)(OCI_MAX_CERTS / OCI_MIB));
		n = fd_read_full(fd, at, 4096);
		if (n < 0)
			return error_sys(err, (int)-n, path,
					 "the certificate cannot be read");
		pem->size += (size_t)n;
	}
	pem->data[pem->size] = '\0';
	if (!strstr(pem->data + before, "-----BEGIN ") &&
	    !memmem(pem->data + before, pem->size - before, "-----BEGIN ", 11))
		return error_set(err, HUSK_E_INVALID, path,
				 "holds no certificate in PEM form");
	return buffer_add_text(pem, "\n") < 0 ? error_oom(err, path) : 0;
}

static bool ends_in(const char *name, const char *suffix)
{
	size_t size = strlen(name), end = strlen(suffix);

	return size > end && strcmp(name + size - end, suffix) == 0;
}

/* The client's pair: NAME.cert and NAME.key. name has either suffix. */
static int add_pair(int dir, const char *path, const char *name,
		    struct collection *collection, struct husk_error *err)
{
	CLEANUP_FREE char *certificate = NULL;
	CLEANUP_FREE char *key = NULL;
	int stem = (int)(strrchr(name, '.') - name), rc;
	size_t skip = strlen(path) + 1;

	if (asprintf(&certificate, "%s/%.*s.cert", path, stem, name) < 0) {
		certificate = NULL;
		return error_oom(err, path);
	}
	if (asprintf(&key, "%s/%.*s.key", path, stem, name) < 0) {
		key = NULL;
		return error_oom(err, path);
	}
	for (int i = 0; i < 2; i++) {
		const char *file = i == 0 ? certificate : key;
		CLEANUP_FD int fd =
		    openat(dir, file + skip, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

		if (fd < 0)
			return error_sys(
			    err, errno, file,
			    "a client's certificate and key come in pairs, "
			    "NAME.cert and NAME.key; this one cannot be read");
		rc = check_writable(fd, file, err);
		if (rc < 0)
			return rc;
	}
	/* Of several pairs the first by name counts. */
	if (!collection->certificate ||
	    strcmp(certificate, collection->certificate) < 0) {
		free(collection->certificate);
		free(collection->key);
		collection->certificate = TAKE_PTR(certificate);
		collection->key = TAKE_PTR(key);
	}
	return 0;
}

static int add_entry(int dir, const char *path, const char *name,
		     struct collection *collection, struct husk_error *err)
{
	char file[4096 + 256];

	if (ends_in(name, ".cert") || ends_in(name, ".key"))
		return add_pair(dir, path, name, collection, err);
	if (!ends_in(name, ".crt"))
		return 0;
	(void)snprintf(file, sizeof(file), "%s/%s", path, name);
	return add_file(dir, name, file, &collection->pem, err);
}

static int walk(int fd, const char *path, struct collection *collection,
		struct husk_error *err)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int rc = 0;

	if (!dir) {
		rc = error_sys(err, errno, path, "cannot be read");
		(void)close(fd);
		return rc;
	}
	errno = 0;
	while (rc == 0 && (entry = readdir(dir)))
		rc = add_entry(dirfd(dir), path, entry->d_name, collection, err);
	if (rc == 0 && errno != 0 && !entry)
		rc = error_sys(err, errno, path, "cannot be read");
	(void)closedir(dir);
	return rc;
}

/* One of the directories' HOST[:PORT], if it is there. */
static int add_directory(const char *parent, int parent_size, const char *registry,
			 struct collection *collection, struct husk_error *err)
{
	CLEANUP_FD int fd = -1;
	char path[4096];
	int rc;

	if ((size_t)snprintf(path, sizeof(path), "%.*s/%s", parent_size, parent,
			     registry) >= sizeof(path))
		return 0;
	fd = openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0) {
		rc = error_sys(err, errno, path,
			       "this registry's certificates cannot be "
			       "read");
		error_hint(err, "let this user read it, or remove it");
		return rc;
	}
	rc = check_writable(fd, path, err);
	return rc < 0 ? rc : walk(fd_take(&fd), path, collection, err);
}

static int collect(const char *registry, const char *tls_ca, const char *dirs,
		   struct collection *collection, struct husk_error *err)
{
	int rc = 0;

	if (tls_ca)
		rc = add_file(AT_FDCWD, tls_ca, tls_ca, &collection->pem, err);
	/* A registry's name is a name of a directory: it holds no "/" (reference.h). */
	while (rc == 0 && *dirs) {
		int size = (int)strcspn(dirs, ":");

		if (size > 0)
			rc = add_directory(dirs, size, registry, collection, err);
		dirs += size + (dirs[size] == ':' ? 1 : 0);
	}
	return rc;
}

/* The CAs into a file that libcurl can open by a name: not every TLS library it may be
 * built with takes them from memory. */
static int make_bundle(struct buffer *pem, struct certs *certs, struct husk_error *err)
{
	const char *base = system_bundle();
	int rc = 0;

	if (pem->size == 0) {
		(void)snprintf(certs->ca_file, sizeof(certs->ca_file), "%s",
			       base ? base : "");
		return 0;
	}
	if (base)
		rc = add_file(AT_FDCWD, base, base, pem, err);
	if (rc < 0)
		return rc;
	certs->bundle = memfd_create("husk-cas", MFD_CLOEXEC);
	if (certs->bundle < 0)
		return error_sys(err, errno, "registry", "no memory file for the CAs");
	rc = fd_write_all(certs->bundle, pem->data, pem->size);
	if (rc < 0)
		return error_sys(err, -rc, "registry", "no memory file for the CAs");
	(void)snprintf(certs->ca_file, sizeof(certs->ca_file), "/proc/self/fd/%d",
		       certs->bundle);
	return 0;
}

int certs_load(const char *registry, const char *tls_ca, const char *dirs,
	       struct certs *ret, struct husk_error *err)
{
	struct collection collection = {.pem = BUFFER_INIT(OCI_MAX_CERTS)};
	struct certs certs = CERTS_INIT;
	int rc = collect(registry, tls_ca, dirs ? dirs : standard_dirs, &collection, err);

	if (rc == 0)
		rc = make_bundle(&collection.pem, &certs, err);
	buffer_deinit(&collection.pem);
	certs.certificate = collection.certificate;
	certs.key = collection.key;
	if (rc < 0) {
		certs_deinit(&certs);
		return rc;
	}
	*ret = certs;
	return 0;
}
