/* SPDX-License-Identifier: Apache-2.0 */
/* flock belongs to the open file, and every lock here is taken on one of its own: so
 * threads exclude each other as processes do, and a lock ends with whoever held it. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "oci/store_own.h"

enum {
	TURN_MS = 50,
	TURNS_TO_ASK = 4,      /* waiting(user) every 200 ms */
	SHARED_TURNS = 1200,   /* a minute: who has it exclusively is quick */
	EXCLUSIVE_TURNS = 100, /* 5 s: a pull takes as long as it takes */
	TRIES = 64
};

static void sleep_a_turn(void)
{
	struct timespec turn = {.tv_nsec = TURN_MS * 1000000L};

	(void)nanosleep(&turn, NULL);
}

int store_wait_turn(unsigned turn, int (*waiting)(void *user), void *user,
		    const char *where, struct husk_error *err)
{
	if (turn % TURNS_TO_ASK == 0 && waiting && waiting(user) != 0)
		return error_set(err, HUSK_E_CANCELLED, where,
				 "stopped while another process was at it");
	sleep_a_turn();
	return 0;
}

static int wait_for(int fd, int how, unsigned turns)
{
	for (unsigned turn = 0;; turn++) {
		if (flock(fd, how | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (turn == turns)
			return -EWOULDBLOCK;
		sleep_a_turn();
	}
}

/* Only its owner may lock the store, so that nobody else can keep it from being tidied:
 * a reader of root's store does without, and holds what it needs by a lease. */
int store_lock_open(struct store *store, struct husk_error *err)
{
	const bool is_writer = store->mode == STORE_WRITE;
	CLEANUP_FD int fd = store_open_file_at(store->part[STORE_TOP], "lock",
					       is_writer ? O_RDWR | O_CREAT : O_RDONLY);
	int r;

	if (fd < 0 && !is_writer)
		return 0;
	if (fd < 0)
		return store_error(store, -fd, err, "cannot open its lock");
	r = wait_for(fd, LOCK_SH, SHARED_TURNS);
	if (r == -EWOULDBLOCK) {
		r = error_set(err, HUSK_E_IN_USE, store->where,
			      "another process has been tidying it for a minute");
		error_hint(err, "look for a husk that hangs, and end it");
		return r;
	}
	if (r < 0)
		return store_error(store, -r, err, "cannot lock it");
	store->lock = fd_take(&fd);
	return 0;
}

int store_lock_exclusive(struct store *store, struct husk_error *err)
{
	int r = store_check_writable(store, err);

	if (r < 0)
		return r;
	r = wait_for(store->lock, LOCK_EX, EXCLUSIVE_TURNS);
	if (r == 0)
		return 0;
	store_lock_shared(store);
	if (r != -EWOULDBLOCK)
		return store_error(store, -r, err, "cannot lock it");
	r = error_set(err, HUSK_E_IN_USE, store->where,
		      "another process is pulling or importing into it");
	error_hint(err, "try again when it has finished");
	return r;
}

void store_lock_shared(struct store *store)
{
	(void)wait_for(store->lock, LOCK_SH, SHARED_TURNS);
}

/* The file goes with the lock, so what was locked may not be the file any more. */
int store_try_lock_file(int dir, const char *name)
{
	for (int i = 0; i < TRIES; i++) {
		CLEANUP_FD int fd = store_open_file_at(dir, name, O_RDWR | O_CREAT);

		if (fd < 0)
			return fd;
		if (flock(fd, LOCK_EX | LOCK_NB) < 0)
			return -errno;
		if (store_is_here(dir, name, fd))
			return fd_take(&fd);
	}
	return -EWOULDBLOCK;
}
