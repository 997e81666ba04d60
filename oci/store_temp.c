/* SPDX-License-Identifier: Apache-2.0 */
/* Things in tmp/. NAME goes with NAME.lock, whose flock its maker holds from before NAME
 * is there until after it is gone: NAME without that is what a dead maker left. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "oci/store_own.h"
#include "oci/unpack.h"

enum { TRIES = 16 };

static void make_name(char name[32])
{
	static _Atomic unsigned count;
	uint64_t random = 0;

	/* Not to be guessed is not asked for; two makers shall seldom meet. */
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (uint64_t)getpid() << 32 | (uint64_t)clock();
	(void)snprintf(name, 32, "t%016llx%x", (unsigned long long)random,
		       atomic_fetch_add(&count, 1) & 0xffffU);
}

static void lock_name(const char *name, char lock[40])
{
	(void)snprintf(lock, 40, "%s.lock", name);
}

/* A new name, locked. */
int store_temp_take(const struct store *store, char name[32])
{
	int fd = -EWOULDBLOCK;

	for (int i = 0; i < TRIES && fd == -EWOULDBLOCK; i++) {
		char lock[40];

		make_name(name);
		lock_name(name, lock);
		fd = store_try_lock_file(store->part[STORE_TMP], lock);
	}
	return fd;
}

void store_temp_drop(const struct store *store, const char *name, int *lock)
{
	char lock_file[STORE_KEY + 32];

	if (*lock < 0)
		return;
	if (unlinkat(store->part[STORE_TMP], name, 0) < 0 && errno == EISDIR)
		(void)tree_remove(store->part[STORE_TMP], name);
	(void)snprintf(lock_file, sizeof(lock_file), "%s.lock", name);
	(void)unlinkat(store->part[STORE_TMP], lock_file, 0);
	fd_close(lock);
}

static int write_synced(int dir, const char *name, const void *data, size_t size)
{
	CLEANUP_FD int fd = -1;
	int r = fd_may_write(size);

	if (r < 0)
		return r;
	fd = store_open_file_at(dir, name, O_WRONLY | O_CREAT | O_EXCL);
	if (fd < 0)
		return fd;
	r = fd_write_all(fd, data, size);
	if (r < 0)
		return r;
	if (fchmod(fd, 0644) < 0 || fsync(fd) < 0)
		return -errno;
	return 0;
}

int store_put_file(const struct store *store, int dir, const char *name, const void *data,
		   size_t size)
{
	int tmp = store->part[STORE_TMP], lock, r;
	char temp[32];

	lock = store_temp_take(store, temp);
	if (lock < 0)
		return lock;
	r = write_synced(tmp, temp, data, size);
	if (r == 0 && renameat(tmp, temp, dir, name) < 0)
		r = -errno;
	if (r == 0 && fsync(dir) < 0)
		r = -errno;
	store_temp_drop(store, temp, &lock);
	return r;
}
