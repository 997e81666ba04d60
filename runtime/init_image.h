/* SPDX-License-Identifier: Apache-2.0 */
/* The init program as something that can be executed. */
#ifndef RUNTIME_INIT_IMAGE_H
#define RUNTIME_INIT_IMAGE_H

#include "base/error.h"

/* A descriptor of the init program: a sealed memfd, or the installed file where memfds
 * may not be executed here. The caller's to close. Returns HUSK_E_SYSTEM on failure. */
int init_image_open(int *ret_fd, struct husk_error *err);

#endif
