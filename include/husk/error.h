/* SPDX-License-Identifier: Apache-2.0 */
/**
 * husk/error.h: the one error type.
 *
 * Usage:
 *	struct husk_error err = {0};
 *	if (husk_session_open(&opts, &session, &err) < 0)
 *		fprintf(stderr, "%s: %s\n", err.where, err.message);
 *
 * A function that can fail returns 0 or one of the negative codes below and, where its
 * last parameter is a struct husk_error *, fills it in on failure. The caller owns the
 * struct; it is plain data of fixed size, holds no pointer and needs no release. NULL is
 * accepted where the words are not wanted. On success it is not touched.
 *
 * What happens to the code in the box is never an error: it is the result's fault
 * (husk/result.h).
 */
#ifndef HUSK_ERROR_H
#define HUSK_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The closed set of codes that public functions return. */
enum husk_code {
	HUSK_OK = 0,
	HUSK_E_INVALID = -1, /**< an argument or option is malformed or out of range */
	HUSK_E_MEMORY = -2,  /**< out of memory */
	HUSK_E_MOUNT_REFUSED = -3, /**< a mount source or target is not allowed */
	HUSK_E_IMAGE = -4,	   /**< the image is unknown or cannot be used */
	HUSK_E_PATH = -5, /**< a workspace path is missing, leaves it, or is not a file */
	HUSK_E_SYSTEM = -6,    /**< the system refused something; sys_errno says what */
	HUSK_E_CLOSED = -7,    /**< the session is closed or closing */
	HUSK_E_TOO_BIG = -8,   /**< a size bound was reached */
	HUSK_E_SETUP = -9,     /**< a setup command failed */
	HUSK_E_REGISTRY = -10, /**< a registry cannot be reached, or refuses */
	HUSK_E_IN_USE = -11,   /**< a box, or another process, is using it */
	HUSK_E_CANCELLED = -12 /**< the caller stopped it */
};

/** Why a call failed: plain data, owned by the caller. */
struct husk_error {
	int32_t code;	   /**< enum husk_code */
	int32_t sys_errno; /**< errno of the refused system call, or 0 */
	char where[128];   /**< what failed: an option, a path, a step; never empty */
	char message[512]; /**< why, one line */
	char hint[512];	   /**< the remedy, one line; empty when there is none */
};

#ifdef __cplusplus
}
#endif

#endif
