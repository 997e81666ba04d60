/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The box of a setup: the session's, with the network on, larger caps, its own .deps in
 * the place of the workspace's, and a /tmp on the host's disk (a pip unpacks there first,
 * and what it unpacks may be larger than the memory cap). What the command prints is not
 * captured whole: only the end of it is of use, in the message of a failure.
 */
#include "session/setup.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/printable.h"
#include "runtime/verdict.h"
#include "session/cancel.h"
#include "session/deps.h"

#define MIN_TIMEOUT_US (UINT64_C(300) * 1000 * 1000)
#define MIN_MEMORY     (UINT64_C(2) << 30)

enum {
	MIN_PIDS = 256,
	TAIL = 400, /* what a message holds besides its own words */
};

/* The last bytes of a stream. */
struct tail {
	char text[TAIL + 1];
	size_t size;
};

struct output {
	const struct husk_setup *how;
	struct tail out, err;
};

static void tail_add(struct tail *tail, const char *data, size_t size)
{
	if (size > TAIL) {
		data += size - TAIL;
		size = TAIL;
	}
	if (tail->size + size > TAIL) {
		size_t drop = tail->size + size - TAIL;

		memmove(tail->text, tail->text + drop, tail->size - drop);
		tail->size -= drop;
	}
	memcpy(tail->text + tail->size, data, size);
	tail->size += size;
	tail->text[tail->size] = '\0';
}

static int take_output(void *user, int stream, const void *data, size_t size)
{
	struct output *output = user;

	if (output->how->on_output)
		return output->how->on_output(output->how->user, stream, data, size);
	tail_add(stream == HUSK_STDOUT ? &output->out : &output->err, data, size);
	return 0;
}

/* Lines become one, what is left is made fit for a message, and of that the end is taken.
 */
static void tail_words(struct tail *tail, char *words, size_t capacity)
{
	char line[2 * TAIL + 1], shown[8 * TAIL];
	size_t used = 0, size;
	const char *from;

	for (size_t i = 0; i < tail->size; i++) {
		char c = tail->text[i];

		if (c == '\0' || c == '\r')
			continue;
		if (c != '\n')
			line[used++] = c;
		else if (used > 0 && i + 1 < tail->size && line[used - 1] != ' ')
			used += (size_t)snprintf(line + used, 3, "; ");
	}
	line[used] = '\0';
	size = strlen(printable(shown, sizeof(shown), line));
	from = shown + (size < capacity ? 0 : size - capacity + 1);
	while (((unsigned char)*from & 0xc0) ==
	       0x80) /* not in the middle of a character */
		from++;
	(void)snprintf(words, capacity, "%s", from);
}

/* -- the box --------------------------------------------------------------------------
 */

static uint64_t at_least(uint64_t value, uint64_t least)
{
	return value == 0 || value > least ? value : least; /* 0: uncapped */
}

static uint64_t memory_cap(const struct setup *setup)
{
	uint64_t asked = setup->how.memory_bytes;

	if (asked == HUSK_UNLIMITED)
		return 0;
	return asked ? asked
		     : at_least(setup->session->spec.caps.memory_bytes, MIN_MEMORY);
}

/* A directory of our own, given to the box's id; `target` is not released. */
static int add_mount(struct box_spec *spec, int fd, const char *target,
		     struct husk_error *err)
{
	struct box_mount *mount = &spec->mounts[spec->mount_count];
	int r;

	if (spec->ids.foreign && fchown(fd, spec->ids.uid, spec->ids.gid) < 0)
		return error_sys(err, errno, "setup",
				 "cannot give a directory to the box");
	r = source_pin_fd(fd, "setup", &mount->source, err);
	if (r < 0)
		return r;
	mount->plain = true;
	mount->target = (char *)(uintptr_t)target;
	mount->writable = true;
	spec->mount_count++;
	return 0;
}

/* The session's spec with changes; all is borrowed but for the first *ret_own mounts. */
static int make_spec(const struct setup *setup, int deps, int tmp, struct box_spec *ret,
		     size_t *ret_own, struct husk_error *err)
{
	const struct box_spec *from = &setup->session->spec;
	size_t first = setup->session->deps_readonly ? 1 : 0;
	int r = 0;

	*ret = *from;
	ret->template = NULL; /* it has the session's mounts */
	ret->host_network = from->host_network || !setup->how.offline;
	ret->caps.memory_bytes = memory_cap(setup);
	ret->caps.pids = at_least(from->caps.pids, MIN_PIDS);
	ret->mount_count = 0;
	ret->mounts = calloc(from->mount_count + 2, sizeof(*ret->mounts));
	if (!ret->mounts)
		return error_oom(err, "setup");
	r = add_mount(ret, tmp, "tmp", err);
	if (r == 0 && deps >= 0)
		r = add_mount(ret, deps, DEPS_TARGET, err);
	*ret_own = ret->mount_count;
	for (size_t i = first; r == 0 && i < from->mount_count; i++)
		ret->mounts[ret->mount_count++] = from->mounts[i];
	return r;
}

static void release_spec(struct box_spec *spec, size_t own)
{
	for (size_t i = 0; i < own; i++)
		source_deinit(&spec->mounts[i].source);
	free(spec->mounts);
}

static uint64_t deadline_us(const struct setup *setup)
{
	uint64_t session_us = setup->session->settings.timeout_us;

	if (setup->how.timeout_ms)
		return setup->how.timeout_ms * 1000;
	return session_us > MIN_TIMEOUT_US ? session_us : MIN_TIMEOUT_US;
}

/* -- what came of it ------------------------------------------------------------------
 */

static int fail_ended(const struct box_outcome *outcome, struct output *output,
		      const struct verdict *verdict, struct husk_error *err)
{
	struct tail *tail = output->err.size > 0 ? &output->err : &output->out;
	char words[sizeof(((struct husk_error *)NULL)->message) - 64];

	tail_words(tail, words, sizeof(words));
	error_set(err, HUSK_E_SETUP, "setup", "the command ended with exit code %d%s%s",
		  verdict->exit_code, words[0] ? ": " : "", words);
	if (outcome->end == BOX_NO_PROGRAM)
		error_hint(err, "the image has no sh, which runs the command");
	else if (strstr(output->err.text, "No module named pip"))
		error_hint(
		    err,
		    "the image has no pip; on the host image, install python3-pip on "
		    "the host");
	else if (strstr(output->err.text, "Temporary failure in name resolution") ||
		 strstr(output->err.text, "NewConnectionError"))
		error_hint(
		    err, "the package index cannot be reached; give pip its settings by "
			 "PIP_* variables, or install from a directory of wheels "
			 "(--no-index --find-links)");
	return HUSK_E_SETUP;
}

/* 0: the command was run, and what became of it is its own doing. */
static int fault_errno(const struct verdict *verdict, const struct box_outcome *outcome)
{
	switch (verdict->fault) {
	case FAULT_TIMEOUT:
		return ETIMEDOUT;
	case FAULT_CANCELLED:
		return ECANCELED;
	case FAULT_STARTUP_FAILED:
		return outcome->error ? outcome->error : ENOTSUP;
	default:
		return 0;
	}
}

static int judge(const struct setup *setup, struct box_outcome *outcome,
		 struct output *output, struct husk_error *err)
{
	struct verdict verdict = {.fault = FAULT_NONE};

	verdict_reach(outcome, deadline_us(setup), &verdict);
	if (verdict.fault == FAULT_NONE)
		return verdict.exit_code == 0
			   ? 0
			   : fail_ended(outcome, output, &verdict, err);
	error_set(err, HUSK_E_SETUP, "setup", "%s: %.300s%s%.120s",
		  fault_name(verdict.fault), verdict.message,
		  verdict.detail[0] ? ": " : "", verdict.detail);
	if (err)
		err->sys_errno = fault_errno(&verdict, outcome);
	error_hint(err, "%s", outcome->hint);
	if (verdict.fault == FAULT_OOM)
		error_hint(err, "raise the memory cap of the setup");
	return HUSK_E_SETUP;
}

static int run_in(const struct setup *setup, const struct box_spec *spec,
		  struct husk_error *err)
{
	CLEANUP_FREE const char **env = setup_command_env(setup->session->settings.env);
	const char *const argv[] = {"sh", "-c", setup->command.text, NULL};
	struct output output = {.how = &setup->how};
	struct box_outcome outcome = {.error = 0};
	struct box_call call = {
	    .argv = argv,
	    .envp = (const char *const *)env,
	    .search = setup->session->settings.search,
	    .workdir = "/workspace",
	    .timeout_us = deadline_us(setup),
	    .stdin_kind = BOX_STDIN_EMPTY,
	    .stdin_fd = -1,
	    .cancel_fd = cancel_fd(setup->how.cancel),
	    .cancel_fd2 = setup->session->closing_fd,
	    .discard = true,
	    .on_output = take_output,
	    .user = &output,
	};
	int r;

	if (!env)
		return error_oom(err, "setup");
	r = settings_check_exec(argv, (char *const *)(uintptr_t)env, err);
	if (r == 0)
		r = box_run(spec, &call, &outcome, err);
	if (r < 0)
		return r;
	r = judge(setup, &outcome, &output, err);
	box_outcome_deinit(&outcome);
	return r;
}

/* Did it change other files of the workspace? What other calls did meanwhile counts too.
 */
static int run_watched(const struct setup *setup, const struct box_spec *spec,
		       bool *ret_other, struct husk_error *err)
{
	struct diff *diff = &setup->session->diff;
	struct diff_call watch = DIFF_CALL_INIT;
	struct husk_listing *changes = NULL;
	int r = diff_begin(diff, &watch, err);

	if (r < 0)
		return r;
	r = run_in(setup, spec, err);
	if (r < 0) {
		diff_cancel(diff, &watch);
		return r;
	}
	r = diff_end(diff, &watch, &changes, err);
	diff_cancel(diff, &watch);
	if (r < 0)
		return r;
	*ret_other = husk_listing_count(changes) > 0;
	(void)husk_listing_free(changes);
	return 0;
}

int setup_box_run(const struct setup *setup, int deps, bool *ret_other,
		  struct husk_error *err)
{
	struct workspace tmp = WORKSPACE_INIT;
	struct box_spec spec;
	size_t own = 0;
	int r = workspace_open(NULL, setup->session->temp_dir, &tmp, err);

	if (r < 0)
		return r;
	r = make_spec(setup, deps, tmp.fd, &spec, &own, err);
	if (r == 0)
		r = run_watched(setup, &spec, ret_other, err);
	release_spec(&spec, own);
	(void)workspace_deinit(&tmp, NULL);
	return r;
}

bool setup_is_stopped(const struct setup *setup, int wait_ms)
{
	struct pollfd fds[2] = {
	    {.fd = cancel_fd(setup->how.cancel), .events = POLLIN},
	    {.fd = setup->session->closing_fd, .events = POLLIN},
	};

	return poll(fds, 2, wait_ms) > 0;
}
