/* SPDX-License-Identifier: Apache-2.0 */
#include "session/cancel.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <husk/session.h>

#include "base/error.h"
#include "base/fd.h"

struct husk_cancel {
	int fd; /* eventfd; nobody ever reads it, so once fired it stays readable */
};

int husk_cancel_new(husk_cancel **ret_cancel, struct husk_error *err)
{
	husk_cancel *cancel = calloc(1, sizeof(*cancel));

	if (!cancel)
		return error_oom(err, "cancel");
	cancel->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (cancel->fd < 0) {
		free(cancel);
		return error_sys(err, errno, "cancel", "cannot make an event descriptor");
	}
	*ret_cancel = cancel;
	return 0;
}

void husk_cancel_fire(husk_cancel *cancel)
{
	static const uint64_t one = 1;
	int saved = errno;

	if (cancel)
		(void)!write(cancel->fd, &one, sizeof(one));
	errno = saved;
}

husk_cancel *husk_cancel_free(husk_cancel *cancel)
{
	if (cancel) {
		fd_close(&cancel->fd);
		free(cancel);
	}
	return NULL;
}

int cancel_fd(const husk_cancel *cancel)
{
	return cancel ? cancel->fd : -1;
}
