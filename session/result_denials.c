/* SPDX-License-Identifier: Apache-2.0 */
/* What the box was refused, as the public getters show it. */
#include "session/result.h"

static const struct denial *row_at(const husk_result *result, size_t index)
{
	if (index >= husk_result_denial_count(result))
		return NULL;
	return &result->outcome.denials.rows[index];
}

size_t husk_result_denial_count(const husk_result *result)
{
	return result ? result->outcome.denials.count : 0;
}

const char *husk_result_denial_layer(const husk_result *result, size_t index)
{
	const struct denial *row = row_at(result, index);

	return row ? row->layer : NULL;
}

const char *husk_result_denial_call(const husk_result *result, size_t index)
{
	const struct denial *row = row_at(result, index);

	return row ? row->call : NULL;
}

const char *husk_result_denial_subject(const husk_result *result, size_t index)
{
	const struct denial *row = row_at(result, index);

	return row ? row->subject : NULL;
}

const char *husk_result_denial_answer(const husk_result *result, size_t index)
{
	const struct denial *row = row_at(result, index);

	return row ? row->error : NULL;
}

uint64_t husk_result_denial_times(const husk_result *result, size_t index)
{
	const struct denial *row = row_at(result, index);

	return row ? row->count : 0;
}

const char *husk_result_denial_loosen(const husk_result *result, size_t index)
{
	const struct denial *row = row_at(result, index);

	return row && row->loosen[0] ? row->loosen : NULL;
}

int husk_result_denials_complete(const husk_result *result)
{
	return result && result->outcome.denials.known && !result->outcome.denials.lost;
}
