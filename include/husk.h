/* SPDX-License-Identifier: Apache-2.0 */
/**
 * husk.h: run code that nobody should trust blindly in a fresh kernel sandbox.
 *
 * Usage:
 *	HUSK_OPTIONS(opts);                       // all zero: the safe defaults
 *	husk_session *session = NULL;
 *	husk_result *result = NULL;
 *	struct husk_error err = {0};
 *	const char *argv[] = {"python3", "-c", "print(6*7)", NULL};
 *
 *	if (husk_session_open(&opts, &session, &err) < 0)
 *		return fail(&err);
 *	if (husk_session_run(session, argv, NULL, &result, &err) < 0)
 *		return fail(&err);
 *	fwrite(husk_result_stdout(result, NULL), 1, ..., stdout);
 *	husk_result_free(result);
 *	husk_session_close(session);
 *
 * The library never exits, prints, reads the environment, or changes signal state,
 *working directory or umask of its caller. It may be called from any thread.
 */
#ifndef HUSK_H
#define HUSK_H

#include <husk/error.h>
#include <husk/options.h>
#include <husk/result.h>
#include <husk/session.h>
#include <husk/setup.h>
#include <husk/host.h>
#include <husk/image.h>
#include <husk/version.h>

#endif
