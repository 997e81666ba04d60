/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include "cli/config.h"
#include "cli/language.h"
#include "cli/numbers.h"
#include "cli/say.h"
#include "cli/verbs.h"
#include "cli/volume.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Ten years: no deadline is worth more, and far larger ones would overflow a clock. */
static const uint64_t TIMEOUT_MAX_MS = UINT64_C(10) * 365 * 24 * 3600 * 1000;
/* As many CPUs as Linux can have. */
static const uint64_t CPU_MAX_MILLI = 8192 * 1000;
/* The kernel's own ceiling on process numbers. */
static const uint64_t PIDS_MAX = 4194304;
/* (uid_t)-1 means "no id" to the kernel. */
static const uint64_t ID_MAX = UINT32_MAX - 1;

/* -- setters ------------------------------------------------------------------------ */

static void *place(const struct cli_option *option, struct cli_settings *settings)
{
	return (char *)settings + option->at;
}

static int refuse(const struct cli_option *option, const char *value, const char *why,
		  struct husk_error *err)
{
	char where[64];

	(void)snprintf(where, sizeof(where), "--%s", option->name);
	return cli_error(err, where, "%s: %s", value[0] != '\0' ? value : "(empty)", why);
}

static int set_flag(const struct cli_option *option, struct cli_settings *settings,
		    char *value, struct husk_error *err)
{
	(void)value;
	(void)err;
	*(int32_t *)place(option, settings) = 1;
	return 0;
}

static int set_text(const struct cli_option *option, struct cli_settings *settings,
		    char *value, struct husk_error *err)
{
	if (value[0] == '\0')
		return refuse(option, value, "there is nothing there", err);
	*(const char **)place(option, settings) = value;
	return 0;
}

/* Empty code is code. */
static int set_code(const struct cli_option *option, struct cli_settings *settings,
		    char *value, struct husk_error *err)
{
	(void)err;
	*(const char **)place(option, settings) = value;
	return 0;
}

/* One of the row's words; its index is stored. */
static int set_choice(const struct cli_option *option, struct cli_settings *settings,
		      char *value, struct husk_error *err)
{
	char why[96];
	int32_t i;

	for (i = 0; option->words[i]; i++) {
		if (strcmp(option->words[i], value) == 0) {
			*(int32_t *)place(option, settings) = i;
			return 0;
		}
	}
	(void)snprintf(why, sizeof(why),
		       i == 2 ? "neither %s nor %s" : "not %s, %s or %s",
		       option->words[0], option->words[1], option->words[2]);
	return refuse(option, value, why, err);
}

static const char *const explain_words[] = {"plan", "timing", NULL};

static int set_explain(const struct cli_option *option, struct cli_settings *settings,
		       char *value, struct husk_error *err)
{
	settings->timing = value && strcmp(value, "timing") == 0;
	settings->explain = !settings->timing;
	return !value || settings->timing || strcmp(value, "plan") == 0
		   ? 0
		   : refuse(option, value, "neither plan nor timing", err);
}

static int set_network(const struct cli_option *option, struct cli_settings *settings,
		       char *value, struct husk_error *err)
{
	settings->network_given = 1;
	return set_choice(option, settings, value, err);
}

/* The outcome of a parser of numbers, in words. */
static int judge(const struct cli_option *option, const char *value, int r,
		 const char *form, const char *range, struct husk_error *err)
{
	if (r == 0)
		return 0;
	return refuse(option, value, r == -EINVAL ? form : range, err);
}

static int set_size(const struct cli_option *option, struct cli_settings *settings,
		    char *value, struct husk_error *err)
{
	int r = cli_number_size(value, place(option, settings));

	return judge(option, value, r,
		     "not a size: a whole number and k, m or g, such as 512m",
		     "must be more than 0 and less than 8 EiB", err);
}

static int set_cpus(const struct cli_option *option, struct cli_settings *settings,
		    char *value, struct husk_error *err)
{
	int r = cli_number_milli(value, CPU_MAX_MILLI, place(option, settings));

	return judge(option, value, r, "not a number of CPUs, such as 0.5",
		     "must be from 0.001 to 8192", err);
}

static int set_pids(const struct cli_option *option, struct cli_settings *settings,
		    char *value, struct husk_error *err)
{
	int r = cli_number_count(value, PIDS_MAX, place(option, settings));

	return judge(option, value, r, "not a whole number", "must be from 1 to 4194304",
		     err);
}

static int set_timeout(const struct cli_option *option, struct cli_settings *settings,
		       char *value, struct husk_error *err)
{
	int r = cli_number_milli(value, TIMEOUT_MAX_MS, place(option, settings));

	return judge(option, value, r, "not a number of seconds, such as 30 or 0.5",
		     "must be from 0.001 to 315360000 (ten years)", err);
}

static int set_prewarm(const struct cli_option *option, struct cli_settings *settings,
		       char *value, struct husk_error *err)
{
	int r = cli_number_count(value, HUSK_PREWARM_MAX, place(option, settings));

	if (r == 0)
		settings->box.prewarm = (uint32_t)settings->prewarm;
	return judge(option, value, r, "not a whole number", "must be from 1 to 256",
		     err);
}

/* Which names are modules is for the library to judge. */
static int set_preload(const struct cli_option *option, struct cli_settings *settings,
		       char *value, struct husk_error *err)
{
	size_t count = 1, size = strlen(value) + 1;
	const char **names;
	char *text = cli_keep_new(&settings->kept, size);

	for (const char *at = value; *at; at++)
		count += *at == ',';
	names = cli_keep_new(&settings->kept, (count + 1) * sizeof(*names));
	if (!text || !names)
		return cli_error_memory(err, "--preload");
	memcpy(text, value, size);
	for (size_t i = 0; i < count; i++) {
		size_t part = strcspn(text, ",");

		if (part == 0)
			return refuse(option, value, "a name is empty", err);
		names[i] = text;
		text += part;
		if (*text)
			*text++ = '\0';
	}
	settings->box.preload = names;
	return 0;
}

/* The word that stands for no cap at all, in place of a number. */
static bool is_none(const struct cli_option *option, struct cli_settings *settings,
		    const char *value)
{
	if (strcmp(value, "none") != 0)
		return false;
	*(uint64_t *)place(option, settings) = HUSK_UNLIMITED;
	return true;
}

static int set_size_or_none(const struct cli_option *option,
			    struct cli_settings *settings, char *value,
			    struct husk_error *err)
{
	return is_none(option, settings, value) ? 0
						: set_size(option, settings, value, err);
}

static int set_cpus_or_none(const struct cli_option *option,
			    struct cli_settings *settings, char *value,
			    struct husk_error *err)
{
	return is_none(option, settings, value) ? 0
						: set_cpus(option, settings, value, err);
}

static int set_pids_or_none(const struct cli_option *option,
			    struct cli_settings *settings, char *value,
			    struct husk_error *err)
{
	return is_none(option, settings, value) ? 0
						: set_pids(option, settings, value, err);
}

/* Grown by one each time: nobody names many. */
static int add_mirror(const struct cli_option *option, struct cli_settings *settings,
		      char *value, struct husk_error *err)
{
	size_t count = settings->mirror_count;
	const char **mirrors;

	if (value[0] == '\0')
		return refuse(option, value, "there is nothing there", err);
	mirrors = cli_keep_new(&settings->kept, (count + 2) * sizeof(*mirrors));
	if (!mirrors)
		return cli_error_memory(err, "--mirror");
	if (count > 0)
		memcpy(mirrors, settings->mirrors, count * sizeof(*mirrors));
	mirrors[count] = value;
	settings->mirrors = mirrors;
	settings->mirror_count = count + 1;
	return 0;
}

/* Decimal digits up to an end character; NULL where they are no id. */
static const char *skip_id(const char *text)
{
	size_t count = strspn(text, "0123456789");
	uint64_t id = 0;

	for (size_t i = 0; i < count && id <= ID_MAX; i++)
		id = id * 10 + (uint64_t)(text[i] - '0');
	return count > 0 && id <= ID_MAX ? text + count : NULL;
}

/* A name as an image's account files may have it: which it has is for the library to
 * find out. */
static const char *skip_name(const char *text)
{
	static const char first[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	static const char more[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
				   "0123456789.-$";
	size_t size = strspn(text, first);

	return size > 0 ? text + size + strspn(text + size, more) : NULL;
}

static const char *skip_id_or_name(const char *text)
{
	const char *end = skip_id(text);

	return end ? end : skip_name(text);
}

static int set_user(const struct cli_option *option, struct cli_settings *settings,
		    char *value, struct husk_error *err)
{
	const char *end = skip_id_or_name(value);

	if (end && *end == ':')
		end = skip_id_or_name(end + 1);
	if (!end || *end != '\0')
		return refuse(option, value,
			      "neither UID or UID:GID in decimal nor NAME or NAME:GROUP",
			      err);
	return set_text(option, settings, value, err);
}

static int set_workdir(const struct cli_option *option, struct cli_settings *settings,
		       char *value, struct husk_error *err)
{
	if (value[0] != '/')
		return refuse(option, value, "not an absolute path", err);
	return set_text(option, settings, value, err);
}

static int set_language(const struct cli_option *option, struct cli_settings *settings,
			char *value, struct husk_error *err)
{
	(void)option;
	return cli_language_find(value, &settings->language, err);
}

static int add_variable(const struct cli_option *option, struct cli_settings *settings,
			char *value, struct husk_error *err)
{
	(void)option;
	return cli_environment_add(&settings->environment, &settings->kept, value, err);
}

static int add_variables(const struct cli_option *option, struct cli_settings *settings,
			 char *value, struct husk_error *err)
{
	const struct cli_config_note *note = NULL;

	/* Where it stands has just been noted. */
	if (settings->config)
		note = cli_config_noted(settings->config, option);
	return cli_environment_add_file(&settings->environment, &settings->kept, value,
					note ? note->where : NULL,
					note ? note->key : NULL, err);
}

static int add_volume(const struct cli_option *option, struct cli_settings *settings,
		      char *value, struct husk_error *err)
{
	struct husk_mount *mounts = settings->mounts;
	int r;

	(void)option;
	if (settings->mount_count == settings->mount_capacity) {
		size_t capacity =
		    settings->mount_capacity > 0 ? settings->mount_capacity * 2 : 8;

		mounts = cli_keep_new(&settings->kept, capacity * sizeof(*mounts));
		if (!mounts)
			return cli_error_memory(err, "--volume");
		if (settings->mount_count > 0)
			memcpy(mounts, settings->mounts,
			       settings->mount_count * sizeof(*mounts));
		settings->mounts = mounts;
		settings->mount_capacity = capacity;
	}
	r = cli_volume_parse(&settings->kept, value, &mounts[settings->mount_count], err);
	if (r < 0)
		return r;
	/* What a configuration file shows there gives way. */
	for (size_t i = 0; i < settings->mounts_below; i++) {
		if (strcmp(mounts[i].target, mounts[settings->mount_count].target) == 0) {
			mounts[i] = mounts[settings->mount_count];
			return 0;
		}
	}
	settings->mount_count++;
	return 0;
}

/* -- the table ---------------------------------------------------------------------- */

#define RUN    CLI_VERB_RUN
#define CODE   CLI_VERB_CODE
#define FILES  CLI_OPTION_IN_FILES
#define BOX    (CLI_VERB_RUN | CLI_VERB_CODE)
#define SETUP  CLI_VERB_SETUP
#define MCP    CLI_VERB_MCP
#define SHELL  CLI_VERB_SHELL
#define PULL   CLI_VERB_PULL
#define IMPORT CLI_VERB_IMAGE_IMPORT
#define LISTS                                                                            \
	(CLI_VERB_CONFIG_SHOW | CLI_VERB_DOCTOR | CLI_VERB_GC | CLI_VERB_IMAGE_INSPECT | \
	 CLI_VERB_IMAGE_LS | CLI_VERB_IMAGE_PRUNE | IMPORT)
#define AT(to) offsetof(struct cli_settings, to)

static const char *const limits_words[] = {"enforce", "best-effort", NULL};
static const char *const format_words[] = {
    [HUSK_IMAGE_OCI] = "oci", [HUSK_IMAGE_DOCKER] = "docker", NULL};
static const char *const pull_words[] = {[HUSK_PULL_MISSING] = "missing",
					 [HUSK_PULL_NEVER] = "never",
					 [HUSK_PULL_ALWAYS] = "always",
					 NULL};
static const char *const network_words[] = {"none", "host", NULL};

static const struct cli_option options[] = {
    {"all", 0, CLI_VERB_STOP, NULL, NULL,
     "End every box of yours, those of other terminals too", NULL, AT(all), set_flag},
    {"authfile", 0, PULL, "FILE", NULL,
     "Take the registry's credentials from FILE (as in Docker's config.json) and from "
     "nowhere else",
     NULL, AT(authfile), set_text},
    {"code", 'c', CODE, "CODE", NULL, "Run CODE", NULL, AT(code), set_code},
    {"cpus", 0, FILES | BOX | SETUP | MCP | SHELL, "N|none", "none",
     "Cap on CPU time, in CPUs, to the thousandth", NULL, AT(box.cpu_milli),
     set_cpus_or_none},
    {"deps-readonly", 0, FILES | BOX | MCP | SHELL, NULL, NULL,
     "Keep the box from changing what `husk setup` installed", NULL,
     AT(box.deps_readonly), set_flag},
    {"env", 'e', FILES | BOX | SETUP | MCP | SHELL, "NAME[=VALUE]", NULL,
     "Set a variable in the box, or copy yours of that name", NULL, 0, add_variable},
    {"env-file", 0, FILES | BOX | SETUP | MCP | SHELL, "FILE", NULL,
     "Set variables from FILE, one NAME=VALUE a line", NULL, 0, add_variables},
    {"explain", 0, BOX | SHELL, NULL, NULL,
     "Print what would be done, and do nothing; =timing: run, and tell where the time "
     "went",
     explain_words, 0, set_explain},
    {"explain-denials", 0, BOX, NULL, NULL,
     "List on stderr afterwards what was refused, by which layer, and what loosens just "
     "that; slow: every system call is traced",
     NULL, AT(explain_denials), set_flag},
    {"files", 0, BOX | SHELL, NULL, NULL,
     "List the workspace files that changed on stderr afterwards", NULL, AT(files),
     set_flag},
    {"format", 0, CLI_VERB_IMAGE_EXPORT, "oci|docker", "oci",
     "What is written: an archive of an OCI layout, or what `docker load` reads",
     format_words, AT(format), set_choice},
    {"help", 'h', CLI_VERB_ALL, NULL, NULL, "Print this text", NULL, AT(help), set_flag},
    {"image", 0, FILES | BOX | SETUP | MCP | SHELL, "REF", "$HUSK_IMAGE, else host",
     "The box's root file system: host, an image such as python:3.12-slim, dir:PATH, "
     "oci:PATH[:TAG], oci-archive:PATH or docker-archive:PATH",
     NULL, AT(box.image), set_text},
    {"install-apparmor", 0, CLI_VERB_DOCTOR, NULL, NULL,
     "As root: install and load the AppArmor profile that lets this husk make user "
     "namespaces, and look at nothing else",
     NULL, AT(install_apparmor), set_flag},
    {"interactive-stdin", 'i', BOX, NULL, NULL,
     "Give the box your stdin; without it the box reads end-of-file", NULL,
     AT(stdin_open), set_flag},
    {"json", 0, BOX | CLI_VERB_PS | LISTS, NULL, NULL,
     "Print the result as one JSON value and nothing else", NULL, AT(json), set_flag},
    {"json-stream", 0, BOX, NULL, NULL,
     "Print what happens as it happens, one JSON object a line, and nothing else", NULL,
     AT(json_stream), set_flag},
    {"language", 0, CODE, "LANGUAGE", NULL,
     "python, bash or node; without it FILE's ending or #! line decides, else python",
     NULL, 0, set_language},
    {"limits", 0, FILES | BOX | SETUP | MCP | SHELL, "enforce|best-effort", "enforce",
     "What to do about a cap that cannot be enforced here: fail, or do what can be done",
     limits_words, AT(box.limits), set_choice},
    {"max-output", 0, FILES | BOX, "SIZE", "64m",
     "With --json: how much of each stream is kept; the rest is dropped", NULL,
     AT(box.max_output_bytes), set_size},
    {"memory", 0, FILES | BOX | SETUP | MCP | SHELL, "SIZE|none", "512m",
     "Cap on memory with swap", NULL, AT(box.memory_bytes), set_size_or_none, "2g"},
    {"mirror", 0, PULL, "HOST", NULL,
     "A registry to ask first; may be given several times", NULL, 0, add_mirror},
    {"name", 0, BOX | MCP | SHELL, "NAME", NULL,
     "What `husk ps` and `husk stop` call this box; without it a name is made up", NULL,
     AT(name), set_text},
    {"network", 0, FILES | BOX | SETUP | MCP | SHELL, "none|host", "none",
     "host: share the host's network with all its local services", network_words,
     AT(box.allow_network), set_network, "host"},
    {"no-cache", 0, SETUP, NULL, NULL, "Install anew, and keep nothing for the next time",
     NULL, AT(no_cache), set_flag},
    {"pids", 0, FILES | BOX | SETUP | MCP | SHELL, "N|none", "256",
     "Cap on tasks; threads count", NULL, AT(box.pids), set_pids_or_none},
    {"plain-http", 0, PULL, NULL, NULL,
     "Allow unencrypted HTTP to a registry on another host: what comes can be read and "
     "changed on the way",
     NULL, AT(images.allow_plain_http), set_flag},
    {"platform", 0, PULL | IMPORT, "OS/ARCH[/VARIANT]", "this machine's",
     "Which of an image's platforms, such as linux/arm64", NULL, AT(images.platform),
     set_text},
    {"preload", 0, MCP, "MODULE[,MODULE...]", NULL,
     "Python modules that a waiting interpreter has imported already; with --prewarm",
     NULL, 0, set_preload},
    {"prewarm", 0, MCP, "N", NULL, "Keep N boxes ready for the next calls", NULL,
     AT(prewarm), set_prewarm},
    {"profile", 0, BOX | SETUP | MCP | SHELL | CLI_VERB_CONFIG_SHOW, "NAME", NULL,
     "Take the settings of that name from the configuration; untrusted is built in", NULL,
     AT(profile), set_text},
    {"pull", 0, FILES | BOX | SETUP | MCP | SHELL, "missing|never|always", "missing",
     "When to fetch the image: where the store lacks it, never, or to see whether it has "
     "changed",
     pull_words, AT(box.pull), set_choice},
    {"quiet", 'q', PULL | IMPORT, NULL, NULL, "Say nothing about the progress", NULL,
     AT(quiet), set_flag},
    {"seccomp", 0, FILES | BOX | SETUP | MCP | SHELL, "default|strict|FILE", "default",
     "The system calls that are denied: a denylist, an allowlist, or an OCI/Docker "
     "profile",
     NULL, AT(box.seccomp), set_text},
    {"setups", 0, CLI_VERB_GC, "SIZE|none", NULL,
     "Also let what setups have left for the next time take no more than SIZE; none: "
     "remove all that is not in use",
     NULL, AT(setups), set_size_or_none},
    {"timeout", 0, FILES | BOX | SETUP | MCP | SHELL, "SECONDS", "30",
     "Deadline; fractions are allowed", NULL, AT(box.timeout_ms), set_timeout, "300",
     "28800"},
    {"tls-ca", 0, PULL, "FILE", NULL,
     "Trust the certificate authority in FILE (PEM) besides the system's", NULL,
     AT(images.tls_ca), set_text},
    {"tmp-size", 0, FILES | BOX | SETUP | MCP | SHELL, "SIZE", "256m",
     "Size of /tmp and of a writable root", NULL, AT(box.tmp_bytes), set_size},
    {"tty", 't', BOX, NULL, NULL,
     "Give the box a terminal of its own; with -i, your keys go to it", NULL,
     AT(terminal), set_flag},
    {"user", 0, FILES | BOX | SETUP | MCP | SHELL, "USER[:GROUP]", "the image's, else 0",
     "The user in the box, by number or by a name of the image; on the host that is you, "
     "or an unprivileged id where you "
     "are root",
     NULL, AT(box.user), set_user},
    {"volume", 'v', FILES | BOX | SETUP | MCP | SHELL, "SRC:DST[:ro|rw]", NULL,
     "Show the host's SRC in the box as DST, writable unless :ro", NULL, 0, add_volume},
    {"workdir", 'w', FILES | BOX | MCP | SHELL, "DIR", "/workspace",
     "The working directory in the box", NULL, AT(box.workdir), set_workdir},
    {"workspace", 0, FILES | BOX | SETUP | MCP | SHELL, "DIR", NULL,
     "The host directory seen as /workspace, made if absent and kept; where none has to "
     "be given, a private one is removed afterwards",
     NULL, AT(box.workspace), set_text},
    {"writable-root", 0, FILES | BOX | SETUP | MCP | SHELL, NULL, NULL,
     "Let the box write to its root; the changes go with the box", NULL,
     AT(box.allow_writable_root), set_flag},
};

const struct cli_option *cli_options(size_t *ret_count)
{
	*ret_count = COUNT(options);
	return options;
}

const char *cli_option_standard(const struct cli_option *option, unsigned verb)
{
	if (verb == CLI_VERB_SETUP && option->setup_standard)
		return option->setup_standard;
	if (verb == CLI_VERB_SHELL && option->shell_standard)
		return option->shell_standard;
	return option->standard;
}

const struct cli_option *cli_option_by_name(const char *name, size_t size)
{
	for (size_t i = 0; i < COUNT(options); i++) {
		if (strncmp(options[i].name, name, size) == 0 &&
		    options[i].name[size] == '\0')
			return &options[i];
	}
	return NULL;
}

const struct cli_option *cli_option_by_letter(char letter)
{
	for (size_t i = 0; i < COUNT(options); i++) {
		if (letter != '\0' && options[i].letter == letter)
			return &options[i];
	}
	return NULL;
}

bool cli_option_repeats(const struct cli_option *option)
{
	return option->set == add_mirror || option->set == add_variable ||
	       option->set == add_variables || option->set == add_volume;
}

void cli_option_clear(const struct cli_option *option, struct cli_settings *settings)
{
	if (option->set == set_flag) {
		*(int32_t *)place(option, settings) = 0;
	} else if (option->set == add_volume) {
		settings->mount_count -= settings->mounts_below;
		if (settings->mount_count > 0)
			memmove(settings->mounts,
				settings->mounts + settings->mounts_below,
				settings->mount_count * sizeof(*settings->mounts));
		settings->mounts_below = 0;
	} else if (option->set == add_variable || option->set == add_variables) {
		cli_environment_clear_below(&settings->environment);
	}
}
