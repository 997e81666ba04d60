/* SPDX-License-Identifier: Apache-2.0 */
/* A session's options, checked and copied. */
#ifndef SESSION_SETTINGS_H
#define SESSION_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <husk/host.h>
#include <husk/image.h>
#include <husk/options.h>
#include <husk/setup.h>

#include "base/error.h"

/* MAX_ARG_STRLEN, execve(2), with the NUL. */
enum { SETTINGS_STRING_MAX = 131072 };

struct settings {
	char **env; /* heap, NULL-terminated: defaults and the caller's, last one wins */
	size_t env_count;
	char *workdir;
	const char *search; /* PATH, in env */
	uint64_t timeout_us;
	uint64_t max_output;
	unsigned prewarm;
	char **preload; /* heap, NULL-terminated; NULL: none */
};

/* Bring an options struct of any age to this version: *ret is filled up with zeros.
 * HUSK_E_INVALID where it is too small or says something this version does not know. */
int settings_options(const struct husk_options *options, struct husk_options *ret,
		     struct husk_error *err);
int settings_call(const struct husk_call *call, struct husk_call *ret,
		  struct husk_error *err);
/* *ret_cancel: the descriptor that becomes readable to stop it, or -1. */
int settings_images(const struct husk_image_options *images,
		    struct husk_image_options *ret, int *ret_cancel,
		    struct husk_error *err);
int settings_host(const struct husk_host_options *options, struct husk_host_options *ret,
		  struct husk_error *err);
int settings_setup(const struct husk_setup *setup, struct husk_setup *ret,
		   struct husk_error *err);

/* Check the numbers, and make env and workdir. */
int settings_init(const struct husk_options *options, struct settings *ret,
		  struct husk_error *err);
/* The variables alone: env, env_count, search. */
int settings_env(const char *const *env, struct settings *settings,
		 struct husk_error *err);
/* The modules to preload. */
int settings_preload(const struct husk_options *options, struct settings *settings,
		     struct husk_error *err);
void settings_deinit(struct settings *settings);

/* What an image says comes under what the caller says: env is the image's Env, home the
 * home directory of the user (NULL: none is known), given the caller's variables (NULL:
 * none), which stay as they are. */
int settings_add_image(struct settings *settings, const char *const *env,
		       const char *home, const char *const *given,
		       struct husk_error *err);

/* "UID" or "UID:GID" in decimal; NULL: 0:0; without GID: 0. */
int settings_user(const char *user, uint32_t *ret_uid, uint32_t *ret_gid,
		  struct husk_error *err);

/* Does it name an id by a word, and one that could be in an account file: "NAME",
 * "NAME:GROUP", "NAME:GID", "UID:GROUP"? */
bool settings_user_is_name(const char *user);

/* A working directory in the box: absolute. */
int settings_check_workdir(const char *workdir, struct husk_error *err);

/* The kernel's bounds on arguments and environment, execve(2), before anything is
 * started. */
int settings_check_exec(const char *const *argv, char *const *env,
			struct husk_error *err);

#endif
