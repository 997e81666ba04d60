/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/retry.h"

#include "oci/bounds.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

enum {
	FIRST_PAUSE_MS = 250,
	LONGEST_PAUSE_MS = 8000,
	STEP_MS = 100, /* how long nobody is asked whether to stop */
	STALL_COST = 3,
	MOST_TRIES = 64, /* with progress in each */
};
/* A try that brought less is no progress. */
#define PROGRESS (256 * OCI_KIB)

static int month_of(const char *name)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

	for (int i = 0; i < 12; i++) {
		if (strncmp(months + (size_t)i * 3, name, 3) == 0)
			return i;
	}
	return -1;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110 section 5.6.7); the older forms are gone from
 * the servers that matter. */
static int64_t read_date(const char *value, time_t now)
{
	char month[4], zone[4];
	struct tm date = {0};
	int end = 0;
	time_t when;

	if (sscanf(value, "%*3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d %3[A-Z]%n",
		   &date.tm_mday, month, &date.tm_year, &date.tm_hour, &date.tm_min,
		   &date.tm_sec, zone, &end) != 7 ||
	    value[end] != '\0' || strcmp(zone, "GMT") != 0)
		return -1;
	date.tm_mon = month_of(month);
	date.tm_year -= 1900;
	if (date.tm_mon < 0)
		return -1;
	when = timegm(&date);
	return when > now ? (int64_t)(when - now) : 0;
}

int64_t retry_after(const char *value, time_t now)
{
	int64_t seconds = 0;
	size_t digits = strspn(value, "0123456789");

	if (digits == 0)
		return read_date(value, now);
	if (value[digits] != '\0')
		return -1;
	for (size_t i = 0; i < digits && seconds <= INT32_MAX; i++)
		seconds = seconds * 10 + (value[i] - '0');
	return seconds;
}

static bool worth(const struct http_answer *answer, int rc)
{
	if (rc < 0)
		return answer->failure == HTTP_CUT || answer->failure == HTTP_STALLED ||
		       answer->failure == HTTP_AGAIN;
	return answer->status == 429 || answer->status == 502 || answer->status == 503 ||
	       answer->status == 504;
}

/* Half of the pause and a random part of the other half. */
static unsigned jitter(unsigned pause_ms)
{
	uint32_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = 0;
	return pause_ms / 2 + (unsigned)(random % (pause_ms / 2 + 1));
}

static int sleep_ms(const struct retry *retry, uint64_t ms, struct husk_error *err)
{
	while (ms > 0) {
		uint64_t step = ms < STEP_MS ? ms : STEP_MS;
		struct timespec time = {0, (long)step * 1000000};

		if (retry->stopped && retry->stopped(retry->stopped_user) != 0)
			return error_set(err, HUSK_E_CANCELLED, retry->host,
					 "the transfer was cancelled");
		while (nanosleep(&time, &time) < 0 && errno == EINTR)
			;
		ms -= step;
	}
	return 0;
}

static int too_long(const struct retry *retry, const struct http_answer *answer,
		    int64_t seconds, struct husk_error *err)
{
	int rc = error_set(err, HUSK_E_REGISTRY, retry->host,
			   "it answers %ld and wants to be left alone for %lld s, longer "
			   "than the %d s that are waited",
			   answer->status, (long long)seconds, OCI_MAX_RETRY_AFTER_S);

	error_hint(err, "%s",
		   answer->status == 429
		       ? "pull later, or with credentials: their limits are higher"
		       : "pull later");
	return rc;
}

/* Wait for the next try. */
static int pause_for(const struct retry *retry, const struct http_answer *answer,
		     bool answered, unsigned *pause_ms, struct husk_error *err)
{
	int64_t seconds = -1;
	uint64_t ms = jitter(*pause_ms);

	if (answered && answer->retry_after[0] != '\0')
		seconds = retry_after(answer->retry_after, time(NULL));
	if (seconds > OCI_MAX_RETRY_AFTER_S)
		return too_long(retry, answer, seconds, err);
	if (seconds > 0)
		ms = (uint64_t)seconds * 1000;
	*pause_ms = *pause_ms * 2 < LONGEST_PAUSE_MS ? *pause_ms * 2 : LONGEST_PAUSE_MS;
	return sleep_ms(retry, ms, err);
}

int retry_run(const struct retry *retry, struct http_answer *answer,
	      struct husk_error *err)
{
	const unsigned first_ms = retry->pause_ms ? retry->pause_ms : FIRST_PAUSE_MS;
	unsigned pause_ms = first_ms;
	int spent = 0;

	for (int tries = 1;; tries++) {
		uint64_t before = retry->progress ? retry->progress(retry->user) : 0;
		int paused, rc = retry->attempt(retry->user, answer, err);

		if (!worth(answer, rc))
			return rc;
		spent += rc < 0 && answer->failure == HTTP_STALLED ? STALL_COST : 1;
		if (retry->progress &&
		    retry->progress(retry->user) >= before + PROGRESS) {
			spent = 1;
			pause_ms = first_ms;
		}
		if (spent >= OCI_MAX_TRIES || tries >= MOST_TRIES)
			return rc;
		paused = pause_for(retry, answer, rc == 0, &pause_ms, err);
		if (paused < 0)
			return paused;
	}
}
