/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration files. Theory of operation:
 *
 * Values come in layers, each over the one before: built in, /etc/husk/config.json, the
 * user's file, the profile that --profile names, HUSK_IMAGE, the command line. A layer is
 * a JSON object whose keys are names of the option table, and its values go through the
 * setters of that table: there is no second parser. What each layer has set is noted,
 * with its file and line, so that errors and `husk config show` can tell where a value is
 * from.
 *
 * The file below /etc may also set ceilings. They are held against the settings after the
 * last layer, the command line: what was asked for and passes one is an error, and what
 * nobody asked for (a default) is lowered.
 *
 * Where there is no file and no profile is named, settings->config stays NULL, and two
 * files that cannot be opened are all that it has cost.
 */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include "cli/options.h"
#include "cli/settings.h"
#include "cli/verbs.h"

#include <husk/error.h>

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum {
	CLI_CONFIG_FILE_MAX = 1 << 20,
	CLI_CONFIG_FILES = 3, /* built in, the administrator's, the user's */
	CLI_CONFIG_KEYS = 3   /* profiles.NAME.OPTION */
};

enum cli_config_kind { CLI_CONFIG_BUILT_IN, CLI_CONFIG_ADMIN, CLI_CONFIG_USER };

struct cli_config_file {
	const char *path; /* as it is shown; kept */
	char *text;	  /* size bytes; NULL: there is no such file */
	size_t size;
	json_t *root;
	enum cli_config_kind kind;
};

/* A key of a file, for errors and notes. */
struct cli_config_place {
	const struct cli_config_file *file;
	const char *keys[CLI_CONFIG_KEYS];
	size_t depth;
};

/* One value that a layer has set. */
struct cli_config_note {
	const struct cli_option *option; /* NULL: it holds no longer */
	const char *value;		 /* as it was given; NULL of a flag */
	const char *where; /* "FILE:LINE", "--memory", "HUSK_IMAGE"; never NULL */
	const char *key;   /* "defaults.memory"; NULL outside of files */
	const char *layer; /* "file", "profile", "environment", "command line",
			    * "ceiling" */
};

struct cli_config {
	struct cli_config_file files[CLI_CONFIG_FILES];
	struct cli_config_note *notes; /* kept; later ones override earlier ones */
	size_t note_count, note_capacity;
	const char *profile; /* NULL: none */
};

/* -- files (config_read.c, config_path.c, config_line.c, config_check.c) ------------ */

/* Read and check the files; settings->config stays NULL where there are none and
 * `needed` is false. */
int cli_config_load(struct cli_settings *settings, bool needed, struct husk_error *err);
/* Refuse a file in one of the places (cli_reach_places): a box could rewrite it, and
 * so choose what the next one may do. */
int cli_config_guard(const struct cli_settings *settings, const char *const *places,
		     struct husk_error *err);
void cli_config_free(struct cli_config *config);

/* Where the file of that kind is, into settings->kept; *ret NULL: nowhere. *ret_must: it
 * was named, and has to be there. */
int cli_config_path(struct cli_settings *settings, enum cli_config_kind kind,
		    const char **ret_path, bool *ret_must, struct husk_error *err);

/* file->text to file->root, all of it checked, by what is wrong with it in the order of
 * the file's sections. */
int cli_config_parse(struct cli_config_file *file, struct husk_error *err);
int cli_config_check(const struct cli_config_file *file, struct husk_error *err);

/* The line, from 1, on which a key of a JSON text stands; 0: nowhere. */
unsigned cli_config_line(const char *text, size_t size, const char *const *keys,
			 size_t depth);

/* -- places (config_place.c) -------------------------------------------------------- */

struct cli_config_place cli_config_below(const struct cli_config_place *place,
					 const char *key);
/* "defaults.memory" into text. */
void cli_config_key(const struct cli_config_place *place, char *text, size_t size);
/* "FILE:LINE" into text, the end of it where it does not fit. */
void cli_config_where(const struct cli_config_place *place, char *text, size_t size);
/* HUSK_E_INVALID that names file, line and key, fit to print. */
int cli_config_refuse(const struct cli_config_place *place, struct husk_error *err,
		      const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* -- layers (config_begin.c, config_apply.c, config_word.c, config_profile.c) ------- */

/* All layers below the command line. On failure the settings are half filled. */
int cli_config_begin(const struct cli_verb *verb, struct cli_settings *settings,
		     const char *profile, struct husk_error *err);

/* The name of the layers that `defaults` of files are. */
#define CLI_CONFIG_DEFAULTS "file"

/* Give the options of one object to the settings: those that a command of these bits
 * takes. settings->config NULL: check only, and read no other files. */
int cli_config_apply(struct cli_settings *settings, unsigned verbs,
		     const struct cli_config_place *place, const json_t *object,
		     const char *layer, struct husk_error *err);

/* A JSON string or number as a word of the command line, kept. */
int cli_config_word(struct cli_settings *settings, const struct cli_config_place *place,
		    const json_t *value, char **ret_word, struct husk_error *err);

/* May the option stand in a file? */
bool cli_config_takes(const struct cli_option *option);

/* The profile of that name: the user's before the administrator's before husk's own. */
int cli_config_find_profile(const struct cli_config *config, const char *name,
			    struct cli_config_place *ret_place, const json_t **ret_object,
			    struct husk_error *err);
extern const char cli_config_built_in[];

/* -- notes (config_note.c) ---------------------------------------------------------- */

/* Remember what was set; does nothing where settings->config is NULL. */
int cli_config_note(struct cli_settings *settings, const struct cli_option *option,
		    const char *value, const struct cli_config_place *place,
		    const char *where, const char *layer, struct husk_error *err);
/* The note that holds for an option; NULL: it has its default. */
const struct cli_config_note *cli_config_noted(const struct cli_config *config,
					       const struct cli_option *option);
/* Does a later note stand in the place of this one? */
bool cli_config_overridden(const struct cli_config *config, size_t index);
/* The option holds nothing any more. */
void cli_config_forget(struct cli_config *config, const struct cli_option *option);

/* An error of the library about a value that a file or HUSK_IMAGE has set: name the
 * place (config_blame.c). */
void cli_config_blame(const struct cli_settings *settings, struct husk_error *err);
/* "WHERE: WHAT: message" of what was "PLACE: message". */
void cli_config_name_place(struct husk_error *err, const char *where, const char *what);

/* -- ceilings (config_ceilings.c, config_images.c) ---------------------------------- */

int cli_config_check_ceilings(const struct cli_config_place *place, const json_t *object,
			      struct husk_error *err);
/* Hold the settings against the ceilings: after the command line. */
int cli_config_hold(const struct cli_verb *verb, struct cli_settings *settings,
		    struct husk_error *err);
/* The object of ceilings; NULL: there are none. */
const json_t *cli_config_ceilings(const struct cli_config *config,
				  struct cli_config_place *ret_place);
/* Is the image among the patterns of ceilings.images? */
bool cli_config_image_allowed(const json_t *patterns, const char *reference);

/* -- registries (config_registries.c) ----------------------------------------------- */

int cli_config_check_registries(const struct cli_config_place *place,
				const json_t *object, struct husk_error *err);
/* What the files say about the registry of a reference, into the settings' image options;
 * what the command line says about it goes first. Before cli_images_finish. */
int cli_config_registry(struct cli_settings *settings, const char *reference,
			struct husk_error *err);

#endif
