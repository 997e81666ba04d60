/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that a command line says, in the form in which the library wants it. The
 * rows of the option table (cli/options.c) write here and nowhere else. */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include "cli/environment.h"
#include "cli/keep.h"

#include <husk/error.h>
#include <husk/image.h>
#include <husk/options.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_config;

struct cli_settings {
	struct husk_options
	    box; /* 0 where the command line is silent: the library's default */
	struct cli_environment environment; /* -e and --env-file */
	struct husk_mount *mounts;	    /* -v; kept */
	size_t mount_count, mount_capacity;
	size_t mounts_below; /* so many of them are of lower layers (cli/config.h) */
	struct husk_image_options images; /* likewise */
	const char *authfile;		  /* --authfile */
	const char **mirrors;		  /* --mirror; kept, ends with NULL */
	size_t mirror_count;
	int32_t format;			     /* --format: enum husk_image_format */
	const char *code;		     /* -c */
	const char *name;		     /* --name of the box */
	const struct cli_language *language; /* --language; NULL: to be guessed */
	int32_t help, json, explain, timing, stdin_open, terminal, files, quiet;
	int32_t json_stream, explain_denials;
	int32_t no_cache;	   /* setup */
	uint64_t prewarm;	   /* mcp: boxes to keep ready */
	uint64_t setups;	   /* gc: bytes to keep; HUSK_UNLIMITED: none */
	int32_t all;		   /* stop */
	int32_t install_apparmor;  /* doctor */
	int32_t network_given;	   /* --network, whatever it says */
	const char *profile;	   /* --profile */
	struct cli_config *config; /* owned; NULL: there are no files */
	struct cli_keep *kept;	   /* owns what the parsers allocate */
};

void cli_settings_init(struct cli_settings *settings);
void cli_settings_deinit(struct cli_settings *settings);
/* What is set from now on is of a layer above (cli/config.h). */
void cli_settings_next_layer(struct cli_settings *settings);
#define CLEANUP_SETTINGS __attribute__((cleanup(cli_settings_deinit)))

/* The image, after the last option: --image, else $HUSK_IMAGE, else NULL. */
const char *cli_settings_image(const struct cli_settings *settings);

/* May the image have a program of its own? A directory, and the host itself, say nothing
 * about what to run. */
bool cli_settings_has_command(const struct cli_settings *settings);

/* A variable of the caller's environment; NULL where it is not there or empty. */
const char *cli_settings_variable(const char *name);

/* After the last option: settle what several options or the caller's environment decide
 * together ($HUSK_IMAGE, $TMPDIR, variables that were given twice). */
int cli_settings_finish(struct cli_settings *settings, struct husk_error *err);

#endif
