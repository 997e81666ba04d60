/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: a byte that says how it is packed, and any bytes as a layer; with 0x80 in
 * the byte, headers get right checksums, which a fuzzer does not find. Whether it is
 * taken, merged or refused: a directory beside it does not change, nothing in its root is
 * a device or has a set-id bit, and all of it can be removed. */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "oci/unpack.h"

struct input {
	const uint8_t *data;
	size_t size;
};

static ssize_t take(void *user, void *data, size_t size, struct husk_error *err)
{
	struct input *input = user;
	size_t n = input->size < size ? input->size : size;

	(void)err;
	memcpy(data, input->data, n);
	input->data += n;
	input->size -= n;
	return (ssize_t)n;
}

static int directory(int base, const char *name)
{
	int fd;

	require(mkdirat(base, name, 0755) == 0);
	fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	require(fd >= 0);
	return fd;
}

static void look(int base, struct stat now[2])
{
	require(fstatat(base, "K", &now[0], AT_SYMLINK_NOFOLLOW) == 0);
	require(fstatat(base, "K/secret", &now[1], AT_SYMLINK_NOFOLLOW) == 0);
}

static int check_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)path;
	(void)at;
	require(type != FTW_NS);
	require(!S_ISBLK(st->st_mode) && !S_ISCHR(st->st_mode) && !S_ISSOCK(st->st_mode));
	require(S_ISLNK(st->st_mode) || !(st->st_mode & 06000));
	return 0;
}

static void unpack(int base, const char *path, struct input *input,
		   enum compression compression)
{
	CLEANUP_FD int dir = directory(base, "layer");
	CLEANUP_FD int root = directory(base, "root");
	struct layer_input layer = {
	    .read = take, .user = input, .compression = compression, .where = "input"};
	struct husk_error err = {0};
	struct layer_summary summary;
	int rc = layer_unpack(dir, &layer, &summary, &err);

	if (rc == 0)
		rc = layers_merge(&dir, 1, root, "input", &err);
	if (rc < 0)
		require_refusal(rc, &err);
	require(nftw(path, check_entry, 16, FTW_PHYS) == 0);
}

/* In all blocks that have the mark of a header. */
static void mend_checksums(uint8_t *data, size_t size)
{
	for (; size >= 512; data += 512, size -= 512) {
		unsigned sum = 0;

		if (memcmp(data + 257, "ustar", 5) != 0)
			continue;
		memset(data + 148, ' ', 8);
		for (size_t i = 0; i < 512; i++)
			sum += data[i];
		(void)snprintf((char *)data + 148, 8, "%06o", sum);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum compression kinds[] = {COMPRESSION_NONE, COMPRESSION_GZIP,
						 COMPRESSION_ZSTD, COMPRESSION_SNIFF};
	CLEANUP_FREE uint8_t *copy = malloc(size);
	struct input input = {copy, size - 1};
	char path[] = "/tmp/husk-fuzz-layer-XXXXXX";
	struct stat before[2], after[2];
	int base, file;

	if (size < 1)
		return 0;
	require(copy != NULL);
	memcpy(copy, data + 1, size - 1);
	if (data[0] & 0x80)
		mend_checksums(copy, size - 1);
	require(mkdtemp(path) != NULL);
	base = openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	require(base >= 0);
	(void)close(directory(base, "K"));
	file = openat(base, "K/secret", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	require(file >= 0 && close(file) == 0);
	look(base, before);
	unpack(base, path, &input, kinds[data[0] % 4]);
	require(tree_remove(base, "layer") == 0 && tree_remove(base, "root") == 0);
	look(base, after);
	for (size_t i = 0; i < 2; i++)
		require(after[i].st_ctim.tv_sec == before[i].st_ctim.tv_sec &&
			after[i].st_ctim.tv_nsec == before[i].st_ctim.tv_nsec &&
			after[i].st_nlink == before[i].st_nlink);
	require(tree_remove(base, "K") == 0 && close(base) == 0);
	require(unlinkat(AT_FDCWD, path, AT_REMOVEDIR) == 0);
	return 0;
}
