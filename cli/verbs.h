/* SPDX-License-Identifier: Apache-2.0 */
/* The commands: one row and one file each. */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "cli/settings.h"

#include <stdbool.h>
#include <stddef.h>

/* For the rows of the option table: which commands take it. */
#define CLI_VERB_CODE	       (1u << 0)
#define CLI_VERB_DOCTOR	       (1u << 1)
#define CLI_VERB_HELP	       (1u << 2)
#define CLI_VERB_RUN	       (1u << 3)
#define CLI_VERB_VERSION       (1u << 4)
#define CLI_VERB_GC	       (1u << 5)
#define CLI_VERB_SETUP	       (1u << 6)
#define CLI_VERB_PULL	       (1u << 7)
#define CLI_VERB_IMAGE	       (1u << 8)
#define CLI_VERB_IMAGE_EXPORT  (1u << 9)
#define CLI_VERB_IMAGE_IMPORT  (1u << 10)
#define CLI_VERB_IMAGE_INSPECT (1u << 11)
#define CLI_VERB_IMAGE_LS      (1u << 12)
#define CLI_VERB_IMAGE_PRUNE   (1u << 13)
#define CLI_VERB_IMAGE_RM      (1u << 14)
#define CLI_VERB_MCP	       (1u << 15)
#define CLI_VERB_SHELL	       (1u << 16)
#define CLI_VERB_PS	       (1u << 17)
#define CLI_VERB_STOP	       (1u << 18)
#define CLI_VERB_COMPLETION    (1u << 19)
#define CLI_VERB_CONFIG	       (1u << 20)
#define CLI_VERB_CONFIG_SHOW   (1u << 21)
#define CLI_VERB_ALL	       ((1u << 22) - 1)

struct cli_verb {
	const char *name;    /* of a second level with the first: "image ls" */
	const char *usage;   /* what follows the name */
	const char *summary; /* one line, without a full stop */
	const char *status;  /* the exit codes, one a line */
	const char *example;
	size_t max_words; /* how many arguments besides options; SIZE_MAX: any number */
	unsigned bit;	  /* CLI_VERB_* */
	bool program; /* its first argument ends the options: the rest is not husk's */
	/* Do it. words holds count arguments and a NULL. Returns the exit code. */
	int (*run)(struct cli_settings *settings, size_t count, char **words);
	/* Of a command that has others below it; NULL for the rest. */
	const struct cli_verb *(*below)(size_t *ret_count);
};

/* Sorted by name; *ret_count rows. */
const struct cli_verb *cli_verbs(size_t *ret_count);
const struct cli_verb *cli_config_verbs(size_t *ret_count);
const struct cli_verb *cli_image_verbs(size_t *ret_count);

/* The command of that name; on failure the error has a suggestion where one is near. */
int cli_verb_find(const char *name, const struct cli_verb **ret_verb,
		  struct husk_error *err);

/* The same for one of two words; *ret_used: how many of words (ended by NULL) name it. Of
 * a command that has others below it, and is followed by none, it is the command itself;
 * that is also what *ret_verb is where the second word is unknown. */
int cli_verb_find_words(char *const *words, const struct cli_verb **ret_verb,
			size_t *ret_used, struct husk_error *err);

/* One file each: cli/code.c, cli/doctor.c, ... */
int cli_code(struct cli_settings *settings, size_t count, char **words);
int cli_completion(struct cli_settings *settings, size_t count, char **words);
int cli_config(struct cli_settings *settings, size_t count, char **words);
int cli_config_show(struct cli_settings *settings, size_t count, char **words);
int cli_doctor(struct cli_settings *settings, size_t count, char **words);
int cli_gc(struct cli_settings *settings, size_t count, char **words);
int cli_help(struct cli_settings *settings, size_t count, char **words);
int cli_image(struct cli_settings *settings, size_t count, char **words);
int cli_image_export(struct cli_settings *settings, size_t count, char **words);
int cli_image_import(struct cli_settings *settings, size_t count, char **words);
int cli_image_inspect(struct cli_settings *settings, size_t count, char **words);
int cli_image_ls(struct cli_settings *settings, size_t count, char **words);
int cli_image_prune(struct cli_settings *settings, size_t count, char **words);
int cli_image_rm(struct cli_settings *settings, size_t count, char **words);
int cli_mcp(struct cli_settings *settings, size_t count, char **words);
int cli_ps(struct cli_settings *settings, size_t count, char **words);
int cli_pull(struct cli_settings *settings, size_t count, char **words);
int cli_run(struct cli_settings *settings, size_t count, char **words);
int cli_setup(struct cli_settings *settings, size_t count, char **words);
int cli_shell(struct cli_settings *settings, size_t count, char **words);
int cli_stop(struct cli_settings *settings, size_t count, char **words);
int cli_version(struct cli_settings *settings, size_t count, char **words);

/* The help of one command (NULL: of husk) on stdout. Returns the exit code. */
int cli_help_verb(const struct cli_verb *verb);

#endif
