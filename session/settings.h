/* SPDX-License-Identifier: Apache-2.0 */
/* A session's options, checked and copied. */
#ifndef SESSION_SETTINGS_H
#define SESSION_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <husk/options.h>
#include <husk/setup.h>

#include "base/error.h"

struct settings {
	char **env; /* heap, NULL-terminated: defaults and the caller's, last one wins */
	size_t env_count;
	char *workdir;
	const char *search; /* PATH, in env */
	uint64_t timeout_us;
	uint64_t max_output;
};

/* Bring an options struct of any age to this version: *ret is filled up with zeros.
 * HUSK_E_INVALID where it is too small or says something this version does not know. */
int settings_options(const struct husk_options *options, struct husk_options *ret,
		     struct husk_error *err);
int settings_call(const struct husk_call *call, struct husk_call *ret,
		  struct husk_error *err);
int settings_setup(const struct husk_setup *setup, struct husk_setup *ret,
		   struct husk_error *err);

/* Check the numbers, and make env and workdir. */
int settings_init(const struct husk_options *options, struct settings *ret,
		  struct husk_error *err);
void settings_deinit(struct settings *settings);

/* "UID" or "UID:GID" in decimal; NULL: 0:0; without GID: 0. */
int settings_user(const char *user, uint32_t *ret_uid, uint32_t *ret_gid,
		  struct husk_error *err);

/* A working directory in the box: absolute. */
int settings_check_workdir(const char *workdir, struct husk_error *err);

/* The kernel's bounds on arguments and environment, execve(2), before anything is
 * started. */
int settings_check_exec(const char *const *argv, char *const *env,
			struct husk_error *err);

#endif
