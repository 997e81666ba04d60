/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A caller that lives long: calls of every kind of end, from several threads, until it is
 * told to stop.
 *
 *	soak enforce|best-effort THREADS DIR SEED COUNTER PREWARM [LEAK...]
 *
 * Private workspaces are made in DIR. COUNTER is a file of eight bytes, in which the
 *boxes are counted: who kills us can still read it. PREWARM boxes of each session are
 *made ahead. Commands come as lines on standard input. `hold` waits until no call is
 *running, keeps it so, and answers with one JSON object: boxes, wrong (how many calls
 *ended otherwise than they should), words (about the last of these), disturbed (how many
 *were ended by somebody from outside), descriptors, threads, and memory (KiB, resident).
 *`go` lets the calls go on; the end of input ends all.
 *
 * LEAK: memory, descriptor, file, process: every tenth box leaves one behind, so that who
 * watches can show that it is noticed.
 */
#include <husk.h>

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 64, LEAK_EVERY = 10, LEAK_SIZE = 1 << 20, WARM_UP = 3 };

static struct husk_options options;
static husk_session *session;
static const char *dir;
static atomic_long counted_here, *boxes = &counted_here, wrong, disturbed;
static atomic_int stop;
static char words[256];
static pthread_mutex_t words_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t gate;
static pthread_barrier_t warm; /* every session has what its boxes share */
static bool leaks_memory, leaks_descriptors, leaks_files, leaks_processes;

static void fails(const char *kind, const char *what, const char *why)
{
	pthread_mutex_lock(&words_lock);
	wrong++;
	(void)snprintf(words, sizeof(words), "%s: %s %s", kind, what, why);
	for (char *at = words; *at; at++)
		if (*at == '"' || *at == '\\' || (unsigned char)*at < ' ')
			*at = '\'';
	pthread_mutex_unlock(&words_lock);
}

/* -- the kinds of calls -----------------------------------------------------------------
 */

struct kind {
	const char *name;
	unsigned share;
	const char *script; /* for sh -c; NULL: a program that is not there */
	enum husk_fault fault;
	int exit_code; /* or ANY_CODE */
	uint64_t timeout_ms;
	const char *workdir;
	bool truncated, cancelled, needs_caps;
	size_t files; /* that must be told as changed, at least */
};

enum { ANY_CODE = -1 };

static const struct kind kinds[] = {
    {.name = "fine", .share = 36, .script = "echo $$ >&2; exit 7", .exit_code = 7},
    {.name = "files",
     .share = 8,
     .script = "d=$(mktemp -d -p .); i=0; while [ $i -lt 30 ]; do echo $i >$d/$i; "
	       "i=$((i+1)); done",
     .files = 30},
    {.name = "timeout",
     .share = 8,
     .script = "sleep 1000",
     .fault = HUSK_FAULT_TIMEOUT,
     .exit_code = ANY_CODE,
     .timeout_ms = 50},
    {.name = "oom",
     .share = 3,
     .script = "head -c 200000000 /dev/zero | tail -c 190000000 | wc -c",
     .fault = HUSK_FAULT_OOM,
     .exit_code = ANY_CODE,
     .needs_caps = true},
    {.name = "denied",
     .share = 8,
     .script = "exec mount -t tmpfs none /tmp",
     .fault = HUSK_FAULT_ESCAPE_BLOCKED,
     .exit_code = ANY_CODE},
    {.name = "killed",
     .share = 8,
     .script = "kill -9 $$",
     .fault = HUSK_FAULT_KILLED,
     .exit_code = 137},
    {.name = "missing", .share = 8, .exit_code = 127},
    {.name = "cancelled",
     .share = 6,
     .script = "sleep 1000",
     .fault = HUSK_FAULT_CANCELLED,
     .exit_code = ANY_CODE,
     .cancelled = true},
    {.name = "flood", .share = 5, .script = "yes | head -c 600000", .truncated = true},
    {.name = "forks",
     .share = 6,
     .script = "i=0; while [ $i -lt 12 ]; do sleep 1000 & i=$((i+1)); done; exit 3",
     .exit_code = 3},
    {.name = "nowhere",
     .share = 4,
     .script = "exit 0",
     .fault = HUSK_FAULT_STARTUP_FAILED,
     .exit_code = ANY_CODE,
     .workdir = "/nowhere"},
};
/* Of SHARES: the kinds' own add up to 100. */
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), OWN_SESSIONS = 4, SHARES = 106 };

static void *fire_soon(void *cancel)
{
	const struct timespec nap = {.tv_nsec = 20000000};

	nanosleep(&nap, NULL);
	husk_cancel_fire(cancel);
	return NULL;
}

static void judge(const struct kind *kind, const husk_result *result)
{
	enum husk_fault fault = husk_result_fault(result);
	char text[64];

	if (fault != kind->fault &&
	    (fault == HUSK_FAULT_KILLED || fault == HUSK_FAULT_STARTUP_FAILED)) {
		disturbed++;
		return;
	}
	(void)snprintf(text, sizeof(text), "exit %d, fault %d, %zu files, truncated %d",
		       husk_result_exit_code(result), (int)fault,
		       husk_result_file_count(result), husk_result_truncated(result));
	if (fault != kind->fault)
		fails(kind->name, text, husk_result_fault_message(result));
	else if (kind->exit_code != ANY_CODE &&
		 husk_result_exit_code(result) != kind->exit_code)
		fails(kind->name, text, husk_result_stderr(result, NULL));
	else if (husk_result_truncated(result) != kind->truncated ||
		 husk_result_file_count(result) < kind->files)
		fails(kind->name, text, "");
}

static void call_box(husk_session *on, const struct kind *kind)
{
	const char *const script[] = {"sh", "-c", kind->script, NULL};
	const char *const missing[] = {"no-such-program", NULL};
	husk_result *result = NULL;
	husk_cancel *cancel = NULL;
	struct husk_error err = {0};
	pthread_t thread;
	HUSK_CALL(call);

	call.timeout_ms = kind->timeout_ms;
	call.workdir = kind->workdir;
	if (kind->cancelled && (husk_cancel_new(&cancel, &err) < 0 ||
				pthread_create(&thread, NULL, fire_soon, cancel) != 0)) {
		fails(kind->name, "cancel", err.message);
		husk_cancel_free(cancel);
		return;
	}
	call.cancel = cancel;
	if (husk_session_run(on, kind->script ? script : missing, &call, &result, &err) <
	    0)
		fails(kind->name, err.where, err.message);
	else
		judge(kind, result);
	if (cancel)
		pthread_join(thread, NULL);
	husk_result_free(result);
	husk_cancel_free(cancel);
	(*boxes)++;
}

/* A session of its own, its files, one box. */
static void call_session(void)
{
	static const struct kind fine = {"session",	  0, "cat given; echo y >made",
					 HUSK_FAULT_NONE, 0, .files = 1};
	struct husk_error err = {0};
	husk_session *own = NULL;
	void *data = NULL;
	size_t size = 0;

	if (husk_session_open(&options, &own, &err) < 0) {
		fails("session", err.where, err.message);
		return;
	}
	if (husk_session_write(own, "given", "x", 1, &err) < 0)
		fails("session", err.where, err.message);
	call_box(own, &fine);
	if (husk_session_read(own, "given", 10, &data, &size, &err) < 0)
		fails("session", err.where, err.message);
	free(data);
	husk_session_close(own);
}

/* What many calls leave in a workspace must not grow for ever. */
static void call_clean(husk_session *on)
{
	static const struct kind clean = {
	    .name = "clean", .script = "rm -rf ./*", .exit_code = 0};

	call_box(on, &clean);
}

static void leak(void)
{
	char name[4096];

	if (leaks_memory)
		memset(malloc(LEAK_SIZE), 1, LEAK_SIZE);
	if (leaks_descriptors)
		(void)!dup(STDIN_FILENO);
	if (leaks_files) {
		(void)snprintf(name, sizeof(name), "%s/left-%ld", dir, *boxes);
		(void)close(open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	}
	if (leaks_processes && fork() == 0) {
		execlp("sleep", "sleep", "60", NULL);
		_exit(1);
	}
}

/* -- threads ----------------------------------------------------------------------------
 */

static uint32_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 33);
}

/* What changes files does it in a workspace that nobody else clears meanwhile. */
static void call_any(husk_session *own, uint64_t *state)
{
	bool caps = options.limits != HUSK_LIMITS_BEST_EFFORT;
	unsigned at = next_random(state) % SHARES;

	for (size_t i = 0; i < KINDS; at -= kinds[i++].share) {
		const struct kind *kind = &kinds[i];

		if (at >= kind->share)
			continue;
		if (kind->needs_caps && !caps)
			kind = &kinds[0];
		call_box(kind->files > 0 ? own : session, kind);
		return;
	}
	if (at < OWN_SESSIONS)
		call_session();
	else
		call_clean(own);
}

static void *worker(void *seed)
{
	uint64_t state = (uint64_t)(uintptr_t)seed;
	husk_session *own = NULL;
	struct husk_error err = {0};
	long next_leak = LEAK_EVERY;

	if (husk_session_open(&options, &own, &err) < 0)
		fails("worker", err.where, err.message);
	for (int i = 0; own && i < WARM_UP; i++) {
		call_box(session, &kinds[0]);
		call_box(own, &kinds[0]);
	}
	pthread_barrier_wait(&warm);
	while (own && !stop) {
		pthread_rwlock_rdlock(&gate);
		call_any(own, &state);
		if (*boxes >= next_leak) {
			leak();
			next_leak = *boxes + LEAK_EVERY;
		}
		pthread_rwlock_unlock(&gate);
	}
	husk_session_close(own);
	return NULL;
}

/* -- telling ----------------------------------------------------------------------------
 */

static long entries_of(const char *path)
{
	DIR *stream = opendir(path);
	long count = 0;

	while (stream && readdir(stream))
		count++;
	if (stream)
		closedir(stream);
	return count - 3; /* ".", ".." and the stream's own */
}

static long resident(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	long found = 0;

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, "VmRSS:", 6) == 0)
			found = strtol(line + 6, NULL, 10);
	if (file)
		fclose(file);
	return found;
}

static void tell(void)
{
	malloc_trim(0); /* what the allocator keeps for later is no leak */
	printf("{\"boxes\": %ld, \"wrong\": %ld, \"words\": \"%s\", \"disturbed\": %ld, "
	       "\"descriptors\": %ld, \"threads\": %ld, \"memory\": %ld}\n",
	       *boxes, wrong, words, disturbed, entries_of("/proc/self/fd"),
	       entries_of("/proc/self/task") + 1, resident());
	fflush(stdout);
}

static void serve(void)
{
	char line[32];
	bool held = false;

	while (fgets(line, sizeof(line), stdin)) {
		if (!held && strcmp(line, "hold\n") == 0) {
			pthread_rwlock_wrlock(&gate);
			held = true;
			tell();
		} else if (held && strcmp(line, "go\n") == 0) {
			pthread_rwlock_unlock(&gate);
			held = false;
		}
	}
	if (held)
		pthread_rwlock_unlock(&gate);
}

static int count_in(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *shared =
	    mmap(NULL, sizeof(*boxes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd < 0 || shared == MAP_FAILED)
		return -1;
	boxes = shared;
	return close(fd);
}

static void read_leaks(int count, char **names)
{
	for (int i = 0; i < count; i++) {
		leaks_memory |= strcmp(names[i], "memory") == 0;
		leaks_descriptors |= strcmp(names[i], "descriptor") == 0;
		leaks_files |= strcmp(names[i], "file") == 0;
		leaks_processes |= strcmp(names[i], "process") == 0;
	}
}

int main(int argc, char **argv)
{
	pthread_rwlockattr_t attributes;
	pthread_t ids[THREADS_MAX];
	struct husk_error err = {0};
	long threads, seed;

	if (argc < 7 || count_in(argv[5]) < 0)
		return 2;
	threads = strtol(argv[2], NULL, 10);
	seed = strtol(argv[4], NULL, 10);
	dir = argv[3];
	read_leaks(argc - 7, argv + 7);
	if (threads < 1 || threads > THREADS_MAX)
		return 2;
	pthread_rwlockattr_init(&attributes);
	/* Else who holds would wait for ever: there is always somebody in a call. */
	pthread_rwlockattr_setkind_np(&attributes,
				      PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&gate, &attributes);
	pthread_barrier_init(&warm, NULL, (unsigned)threads + 1);
	options.size = sizeof(options);
	options.temp_dir = dir;
	options.memory_bytes = 96 << 20;
	options.max_output_bytes = 300000;
	options.prewarm = (uint32_t)strtol(argv[6], NULL, 10);
	if (strcmp(argv[1], "best-effort") == 0)
		options.limits = HUSK_LIMITS_BEST_EFFORT;
	if (husk_session_open(&options, &session, &err) < 0) {
		fprintf(stderr, "%s: %s\n", err.where, err.message);
		return 1;
	}
	for (long i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, worker,
			       (void *)(uintptr_t)(seed * 1000 + i + 1));
	pthread_barrier_wait(&warm);
	serve();
	stop = 1;
	for (long i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	husk_session_close(session);
	return 0;
}
