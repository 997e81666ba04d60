/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/lib_archive.h"

#include "oci/library.h"

static struct lib_archive table;

static const struct library_symbol symbols[] = {
    LIBRARY_SYMBOL(struct lib_archive, read_new, archive_read_new),
    LIBRARY_SYMBOL(struct lib_archive, read_free, archive_read_free),
    LIBRARY_SYMBOL(struct lib_archive, support_filter_none,
		   archive_read_support_filter_none),
    LIBRARY_SYMBOL(struct lib_archive, support_format_tar,
		   archive_read_support_format_tar),
    LIBRARY_SYMBOL(struct lib_archive, read_open, archive_read_open),
    LIBRARY_SYMBOL(struct lib_archive, next_header, archive_read_next_header2),
    LIBRARY_SYMBOL(struct lib_archive, entry_new, archive_entry_new),
    LIBRARY_SYMBOL(struct lib_archive, entry_free, archive_entry_free),
    LIBRARY_SYMBOL(struct lib_archive, header_position, archive_read_header_position),
    LIBRARY_SYMBOL(struct lib_archive, data_block, archive_read_data_block),
    LIBRARY_SYMBOL(struct lib_archive, error_string, archive_error_string),
    LIBRARY_SYMBOL(struct lib_archive, error_number, archive_errno),
    LIBRARY_SYMBOL(struct lib_archive, set_error, archive_set_error),
    LIBRARY_SYMBOL(struct lib_archive, entry_pathname, archive_entry_pathname),
    LIBRARY_SYMBOL(struct lib_archive, entry_filetype, archive_entry_filetype),
    LIBRARY_SYMBOL(struct lib_archive, entry_mode, archive_entry_mode),
    LIBRARY_SYMBOL(struct lib_archive, entry_size, archive_entry_size),
    LIBRARY_SYMBOL(struct lib_archive, entry_mtime, archive_entry_mtime),
    LIBRARY_SYMBOL(struct lib_archive, entry_mtime_nsec, archive_entry_mtime_nsec),
    LIBRARY_SYMBOL(struct lib_archive, entry_hardlink, archive_entry_hardlink),
    LIBRARY_SYMBOL(struct lib_archive, entry_symlink, archive_entry_symlink),
    LIBRARY_SYMBOL(struct lib_archive, entry_xattr_reset, archive_entry_xattr_reset),
    LIBRARY_SYMBOL(struct lib_archive, entry_xattr_next, archive_entry_xattr_next),
};

static const char *const sonames[] = {"libarchive.so.13", NULL};

static struct library library = {
    .use = "image layers",
    .package = "libarchive13",
    .sonames = sonames,
    .symbols = symbols,
    .count = sizeof(symbols) / sizeof(symbols[0]),
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

int lib_archive(const struct lib_archive **ret, struct husk_error *err)
{
	int rc = library_open(&library, &table, err);

	if (rc == 0)
		*ret = &table;
	return rc;
}
