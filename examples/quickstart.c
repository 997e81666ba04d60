/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tour of `make quickstart`: a session with a workspace, data from the host, two
 * boxes that work on it, and three that the sandbox had to deal with. Needs: a box.
 */
#include <husk.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 120000 };

static const char statistics[] =
    "import csv, json, statistics as st\n"
    "by_city = {}\n"
    "with open('sales.csv', newline='') as f:\n"
    "    for row in csv.DictReader(f):\n"
    "        by_city.setdefault(row['city'], []).append(float(row['amount']))\n"
    "out = {c: {'n': len(v), 'mean': round(st.fmean(v), 2), 'sd': round(st.pstdev(v), "
    "2),\n"
    "           'max': max(v)} for c, v in sorted(by_city.items())}\n"
    "json.dump(out, open('summary.json', 'w'), indent=1)\n"
    "print(sum(s['n'] for s in out.values()), 'rows,', len(out), 'cities')\n";

static const char reader[] = "import json\n"
			     "for city, s in json.load(open('summary.json')).items():\n"
			     "    print(f\"{city:<10} n={s['n']:>6}  mean={s['mean']:>8} "
			     " sd={s['sd']:>7}  max={s['max']:>8}\")\n";

static const char endless[] = "while True: pass\n";
static const char mounting[] = "import ctypes\nctypes.CDLL(None).mount(0, 0, 0, 0, 0)\n";
static const char looking[] =
    "import os, socket\n"
    "print('processes:', sum(p.isdigit() for p in os.listdir('/proc')))\n"
    "print('secrets in the environment:', 'QUICKSTART_SECRET' in os.environ)\n"
    "try:\n"
    "    socket.create_connection(('192.0.2.1', 80), timeout=2)\n"
    "    print('network: reachable')\n"
    "except OSError as e:\n"
    "    print('network:', e.strerror)\n";

static int failed(const char *what, const struct husk_error *err)
{
	fprintf(stderr, "%s: %s: %s\n", what, err->where, err->message);
	if (err->hint[0])
		fprintf(stderr, "hint: %s\n", err->hint);
	return 1;
}

/* A file of real size, the same every time: a linear congruential generator stands in for
 * a shop's year. */
static int write_csv(husk_session *session)
{
	static const char *const cities[] = {"Aarhus", "Bogota", "Cairo", "Dakar",
					     "Evora"};
	struct husk_error err = {0};
	size_t size = 0, capacity = (size_t)ROWS * 48;
	char *text = malloc(capacity);
	unsigned long long state = 20260101;
	int r;

	if (!text)
		return 1;
	size += (size_t)snprintf(text, capacity, "id,city,amount\n");
	for (int i = 0; i < ROWS; i++) {
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		size += (size_t)snprintf(text + size, capacity - size, "%d,%s,%.2f\n", i,
					 cities[(state >> 33) % 5],
					 (double)((state >> 40) % 100000) / 100.0);
	}
	r = husk_session_write(session, "sales.csv", text, size, &err);
	free(text);
	if (r < 0)
		return failed("writing sales.csv", &err);
	printf("wrote sales.csv into the workspace: %d rows, %zu bytes\n", ROWS, size);
	return 0;
}

static void show_files(const husk_result *result)
{
	static const char *const words[] = {"", "created", "modified", "deleted"};

	for (size_t i = 0; i < husk_result_file_count(result); i++)
		printf("    %s %s (%llu bytes)\n",
		       words[husk_result_file_change(result, i)],
		       husk_result_file_path(result, i),
		       (unsigned long long)husk_result_file_size(result, i));
}

static void show(const husk_result *result)
{
	static const char *const held[] = {"off", "best effort", "enforced"};
	struct husk_usage usage = {.size = sizeof(usage)};
	size_t size;
	const char *out = husk_result_stdout(result, &size);

	if (size > 0)
		printf("%.*s", (int)size, out);
	husk_result_usage(result, &usage);
	printf("  -> exit code %d after %llu ms, cpu %.1f ms, memory cap %s\n",
	       husk_result_exit_code(result),
	       (unsigned long long)husk_result_duration_ms(result),
	       (double)usage.cpu_us / 1000, held[husk_result_limit_memory(result)]);
	if (husk_result_fault(result) != HUSK_FAULT_NONE)
		printf("  -> the sandbox acted: %s: %s\n", husk_result_fault_name(result),
		       husk_result_fault_message(result));
	else
		printf("  -> no fault: whatever happened, the code did it\n");
	show_files(result);
}

/* Run code and check that the result is what it should be: a tour that goes wrong must
 * not look as if it had gone well. */
static int step(husk_session *session, const char *title, const char *code,
		uint64_t timeout_ms, int want_fault)
{
	HUSK_CALL(call);
	struct husk_error err = {0};
	husk_result *result = NULL;
	int wrong;

	printf("\n%s\n", title);
	call.timeout_ms = timeout_ms;
	if (husk_session_run_code(session, "python", code, strlen(code), &call, &result,
				  &err) < 0)
		return failed(title, &err);
	show(result);
	wrong = husk_result_fault(result) != want_fault ||
		(want_fault == HUSK_FAULT_NONE && husk_result_exit_code(result) != 0);
	if (wrong) {
		fprintf(stderr, "%s", husk_result_stderr(result, NULL));
		if (husk_result_hint(result))
			fprintf(stderr, "hint: %s\n", husk_result_hint(result));
	}
	husk_result_free(result);
	return wrong;
}

/* Caps are enforced where this host lets us; where it does not, the tour goes on and says
 * so. */
static husk_session *open_session(void)
{
	const char *const probe[] = {"true", NULL};
	HUSK_OPTIONS(options);
	struct husk_error err = {0};
	husk_session *session = NULL;
	husk_result *result = NULL;

	for (int limits = HUSK_LIMITS_ENFORCE; limits <= HUSK_LIMITS_BEST_EFFORT;
	     limits++) {
		options.limits = limits;
		if (husk_session_open(&options, &session, &err) < 0 ||
		    husk_session_run(session, probe, NULL, &result, &err) < 0) {
			failed("opening a session", &err);
			return husk_session_close(session);
		}
		if (husk_result_success(result)) {
			husk_result_free(result);
			return session;
		}
		printf("%s%s\n  %s\n",
		       limits == HUSK_LIMITS_ENFORCE ? "limits cannot be enforced here: "
						     : "no box can run here: ",
		       husk_result_fault_message(result),
		       husk_result_hint(result) ? husk_result_hint(result) : "");
		result = husk_result_free(result);
		session = husk_session_close(session);
	}
	return NULL;
}

int main(void)
{
	husk_session *session;
	int wrong;

	printf("husk %s\n", husk_version());
	setenv("QUICKSTART_SECRET", "hunter2", 1);
	session = open_session();
	if (!session)
		return 1;
	wrong = write_csv(session);
	wrong |=
	    step(session, "1. code in a box computes statistics and writes summary.json",
		 statistics, 0, HUSK_FAULT_NONE);
	wrong |= step(session, "2. a second, fresh box reads that file", reader, 0,
		      HUSK_FAULT_NONE);
	wrong |= step(session, "3. what a box sees of this machine", looking, 0,
		      HUSK_FAULT_NONE);
	wrong |= step(session, "4. an endless loop, with a deadline of one second",
		      endless, 1000, HUSK_FAULT_TIMEOUT);
	wrong |= step(session, "5. code that calls mount(2)", mounting, 0,
		      HUSK_FAULT_ESCAPE_BLOCKED);
	husk_session_close(session);
	printf(wrong ? "\nSomething above is not as it should be.\n"
		     : "\nAll five went as they should. The workspace is gone again.\n");
	return wrong;
}
