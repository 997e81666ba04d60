/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: any bytes as a file that is imported: an OCI archive, one of docker save,
 * a tar of a root file system, packed or not. With 0x80 in the first byte headers get
 * right checksums. What is imported is found under its name and can be exported; what is
 * refused leaves no name, and the next import into the store works.
 */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/memory.h"
#include "oci/oci.h"
#include "oci/unpack.h"

struct place {
	char path[64], file[80], store[80], out[80];
	struct husk_image_options options;
};

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

static void place_open(struct place *place)
{
	(void)snprintf(place->path, sizeof(place->path),
		       "/dev/shm/husk-fuzz-import-XXXXXX");
	require(mkdtemp(place->path) != NULL);
	(void)snprintf(place->file, sizeof(place->file), "%s/file", place->path);
	(void)snprintf(place->store, sizeof(place->store), "%s/store", place->path);
	(void)snprintf(place->out, sizeof(place->out), "%s/out", place->path);
	place->options = (struct husk_image_options){.size = sizeof(place->options),
						     .store = place->store};
}

static void place_close(struct place *place)
{
	CLEANUP_FD int above = open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	require(above >= 0 && tree_remove(above, strrchr(place->path, '/') + 1) == 0);
}

static size_t count_names(const struct place *place)
{
	struct store_image *images = NULL;
	size_t count = 0;

	require(oci_list(&place->options, &images, &count, NULL) == 0);
	store_images_free(images, count);
	return count;
}

static void check_images(const struct place *place, struct store_image *images,
			 size_t count)
{
	require(count_names(place) <= count);
	for (size_t i = 0; i < count; i++) {
		struct husk_error err = {0};
		int r = oci_export(images[i].name, place->out, HUSK_IMAGE_OCI,
				   &place->options, -1, &err);

		if (r < 0)
			require_refusal(r, &err);
		(void)unlink(place->out);
	}
}

static void use_file(const struct place *place, const char *reference)
{
	struct store_image *images = NULL;
	struct husk_error err = {0};
	size_t count = 0;
	int r = oci_import(place->file, reference, &place->options, -1, &images, &count,
			   &err);

	if (r == 0) {
		require(count > 0);
		check_images(place, images, count);
		store_images_free(images, count);
	} else {
		require_refusal(r, &err);
		require(count_names(place) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP_FREE uint8_t *copy = NULL;
	struct place place;
	int fd;

	if (size < 1)
		return 0;
	copy = malloc(size);
	require(copy != NULL);
	memcpy(copy, data + 1, size - 1);
	if (data[0] & 0x80)
		mend_checksums(copy, size - 1);
	place_open(&place);
	fd = open(place.file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	require(fd >= 0 && fd_write_all(fd, copy, size - 1) == 0 && close(fd) == 0);
	use_file(&place, data[0] & 1 ? "example.org/a:b" : NULL);
	place_close(&place);
	return 0;
}
