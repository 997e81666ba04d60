/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SESSION_CANCEL_H
#define SESSION_CANCEL_H

#include <husk/options.h>

/* The descriptor that becomes readable when the object is fired, and stays so. */
int cancel_fd(const husk_cancel *cancel);

#endif
