/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/init_image.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

extern const char husk_init_image[], husk_init_image_end[];

static const char installed[] = HUSK_LIBDIR "/../libexec/husk/husk-init";

/* MFD_EXEC exists since Linux 6.3 and says that the file is meant to be executed; where
 * the administrator forbids that (vm.memfd_noexec=2) the call fails with EACCES. */
static int make_memfd(void)
{
	unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	size_t size = (uintptr_t)husk_init_image_end - (uintptr_t)husk_init_image;
	CLEANUP_FD int fd = memfd_create("husk-init", flags | MFD_EXEC);
	int r;

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("husk-init", flags);
	if (fd < 0)
		return -errno;
	r = fd_may_write(size);
	if (r == 0)
		r = fd_write_all(fd, husk_init_image, size);
	if (r < 0)
		return r;
	if (fcntl(fd, F_ADD_SEALS,
		  F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
		return -errno;
	return fd_take(&fd);
}

/* The fall-back is believed only where nobody but root could have written it. */
static int open_installed(void)
{
	CLEANUP_FD int fd = open(installed, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != 0 || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return -EPERM;
	return fd_take(&fd);
}

/* A want of descriptors or of memory speaks for itself. */
static void hint_at(int sys_errno, struct husk_error *err)
{
	if (sys_errno == EFBIG)
		error_hint(
		    err, "%s",
		    "this process may not write files that large: raise ulimit -f");
	else if (sys_errno != EMFILE && sys_errno != ENFILE && sys_errno != ENOMEM)
		error_hint(
		    err, "%s",
		    "allow executable memfds (sysctl vm.memfd_noexec=1), or install "
		    "husk so that its libexec file is found");
}

int init_image_open(int *ret_fd, struct husk_error *err)
{
	int fd = make_memfd(), file;

	if (fd < 0) {
		file = open_installed();
		if (file < 0) {
			error_sys(err, -fd, "init program",
				  "cannot make it executable in memory");
			hint_at(-fd, err);
			return HUSK_E_SYSTEM;
		}
		fd = file;
	}
	*ret_fd = fd;
	return 0;
}
