/* SPDX-License-Identifier: Apache-2.0 */
#include "session/result.h"

#include <stdlib.h>
#include <string.h>

#include "session/listing.h"

static const char *stream(const struct buffer *buffer, size_t *ret_size)
{
	if (ret_size)
		*ret_size = buffer->size;
	return buffer->data ? buffer->data : "";
}

static const char *no_stream(size_t *ret_size)
{
	if (ret_size)
		*ret_size = 0;
	return NULL;
}

const char *husk_result_stdout(const husk_result *result, size_t *ret_size)
{
	return result ? stream(&result->outcome.out, ret_size) : no_stream(ret_size);
}

const char *husk_result_stderr(const husk_result *result, size_t *ret_size)
{
	return result ? stream(&result->outcome.err, ret_size) : no_stream(ret_size);
}

int husk_result_exit_code(const husk_result *result)
{
	return result ? result->verdict.exit_code : 0;
}

int husk_result_signal(const husk_result *result)
{
	return result ? result->verdict.signal : 0;
}

uint64_t husk_result_duration_ms(const husk_result *result)
{
	return result ? result->outcome.wall_us / 1000 : 0;
}

int husk_result_success(const husk_result *result)
{
	return result && result->verdict.exit_code == 0 &&
	       result->verdict.fault == FAULT_NONE;
}

int husk_result_truncated(const husk_result *result)
{
	return result && result->outcome.truncated;
}

/* The runtime does not know the public enum; this is the one place where they meet. */
int husk_result_fault(const husk_result *result)
{
	static const int codes[] = {
	    [FAULT_NONE] = HUSK_FAULT_NONE,
	    [FAULT_TIMEOUT] = HUSK_FAULT_TIMEOUT,
	    [FAULT_ESCAPE_BLOCKED] = HUSK_FAULT_ESCAPE_BLOCKED,
	    [FAULT_OOM] = HUSK_FAULT_OOM,
	    [FAULT_KILLED] = HUSK_FAULT_KILLED,
	    [FAULT_STARTUP_FAILED] = HUSK_FAULT_STARTUP_FAILED,
	    [FAULT_CANCELLED] = HUSK_FAULT_CANCELLED,
	};

	return result ? codes[result->verdict.fault] : HUSK_FAULT_NONE;
}

const char *husk_result_fault_name(const husk_result *result)
{
	return result ? fault_name(result->verdict.fault) : NULL;
}

const char *husk_result_fault_message(const husk_result *result)
{
	if (!result || result->verdict.fault == FAULT_NONE)
		return NULL;
	return result->verdict.message;
}

const char *husk_result_fault_detail(const husk_result *result)
{
	if (!result || result->verdict.fault == FAULT_NONE)
		return NULL;
	return result->verdict.detail;
}

const char *husk_result_hint(const husk_result *result)
{
	return result && result->hint[0] ? result->hint : NULL;
}

const char *husk_result_exec_error(const husk_result *result)
{
	return result && result->exec_error[0] ? result->exec_error : NULL;
}

static uint64_t microseconds(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

/* The cgroup's figures where it has them. Otherwise what waiting for the box told: its
 * CPU time is whole, its memory is that of the largest process. */
static void fill_usage(const struct box_outcome *outcome, struct husk_usage *usage)
{
	const struct cgroup_counters *counters = &outcome->counters;

	usage->wall_us = outcome->wall_us;
	usage->cpu_us = microseconds(&outcome->rusage.ru_utime) +
			microseconds(&outcome->rusage.ru_stime);
	usage->memory_peak_bytes = outcome->rusage.ru_maxrss > 0
				       ? (uint64_t)outcome->rusage.ru_maxrss * 1024
				       : HUSK_UNKNOWN;
	usage->pids_peak = usage->pids_denied = HUSK_UNKNOWN;
	if (!outcome->has_cgroup)
		return;
	if (counters->cpu_us != UINT64_MAX)
		usage->cpu_us = counters->cpu_us;
	if (counters->memory_peak != UINT64_MAX)
		usage->memory_peak_bytes = counters->memory_peak;
	usage->pids_peak = counters->pids_peak;
	usage->pids_denied = counters->pids_denied;
}

void husk_result_usage(const husk_result *result, struct husk_usage *usage)
{
	struct husk_usage full = {0};
	size_t size = usage->size < sizeof(full) ? usage->size : sizeof(full);

	if (result)
		fill_usage(&result->outcome, &full);
	full.size = usage->size;
	memcpy(usage, &full, size);
}

static int limit(enum cgroup_hold hold)
{
	switch (hold) {
	case CGROUP_ENFORCED:
		return HUSK_LIMIT_ENFORCED;
	case CGROUP_BEST_EFFORT:
		return HUSK_LIMIT_BEST_EFFORT;
	default:
		return HUSK_LIMIT_OFF;
	}
}

int husk_result_limit_memory(const husk_result *result)
{
	return result ? limit(result->outcome.memory) : HUSK_LIMIT_OFF;
}

int husk_result_limit_cpus(const husk_result *result)
{
	return result ? limit(result->outcome.cpus) : HUSK_LIMIT_OFF;
}

int husk_result_limit_pids(const husk_result *result)
{
	return result ? limit(result->outcome.pids) : HUSK_LIMIT_OFF;
}

size_t husk_result_file_count(const husk_result *result)
{
	return result ? husk_listing_count(result->changes) : 0;
}

const char *husk_result_file_path(const husk_result *result, size_t index)
{
	return result ? husk_listing_path(result->changes, index) : NULL;
}

uint64_t husk_result_file_size(const husk_result *result, size_t index)
{
	return result ? husk_listing_size(result->changes, index) : 0;
}

int husk_result_file_change(const husk_result *result, size_t index)
{
	if (index >= husk_result_file_count(result))
		return 0;
	return listing_at(result->changes, index)->change;
}

int husk_result_spare(const husk_result *result)
{
	return result ? result->spare : HUSK_SPARE_NONE;
}

int husk_result_files_complete(const husk_result *result)
{
	return !result || husk_listing_complete(result->changes);
}

husk_result *husk_result_free(husk_result *result)
{
	if (!result)
		return NULL;
	box_outcome_deinit(&result->outcome);
	result->changes = husk_listing_free(result->changes);
	free(result);
	return NULL;
}
