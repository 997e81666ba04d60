/* SPDX-License-Identifier: Apache-2.0 */
/* libarchive, for its tar reader alone. */
#ifndef OCI_LIB_ARCHIVE_H
#define OCI_LIB_ARCHIVE_H

#include <archive.h>
#include <archive_entry.h>

#include "base/error.h"

struct lib_archive {
	typeof(archive_read_new) *read_new;
	typeof(archive_read_free) *read_free;
	typeof(archive_read_support_filter_none) *support_filter_none;
	typeof(archive_read_support_format_tar) *support_format_tar;
	typeof(archive_read_open) *read_open;
	typeof(archive_read_next_header2) *next_header;
	typeof(archive_entry_new) *entry_new;
	typeof(archive_entry_free) *entry_free;
	typeof(archive_read_header_position) *header_position;
	typeof(archive_read_data_block) *data_block;
	typeof(archive_error_string) *error_string;
	typeof(archive_errno) *error_number;
	typeof(archive_set_error) *set_error;
	typeof(archive_entry_pathname) *entry_pathname;
	typeof(archive_entry_filetype) *entry_filetype;
	typeof(archive_entry_mode) *entry_mode;
	typeof(archive_entry_size) *entry_size;
	typeof(archive_entry_mtime) *entry_mtime;
	typeof(archive_entry_mtime_nsec) *entry_mtime_nsec;
	typeof(archive_entry_hardlink) *entry_hardlink;
	typeof(archive_entry_symlink) *entry_symlink;
	typeof(archive_entry_xattr_reset) *entry_xattr_reset;
	typeof(archive_entry_xattr_next) *entry_xattr_next;
};

/* *ret lives for ever. HUSK_E_SYSTEM with the remedy where it is not installed. */
int lib_archive(const struct lib_archive **ret, struct husk_error *err);

#endif
