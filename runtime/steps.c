/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/steps.h"

#include "runtime/plan.h"

static const struct {
	const char *name, *words;
} steps[STEP_COUNT] = {[STEP_NONE] = {"none", "begin"},
#define ROW(id, name_, words_) [STEP_##id] = {name_, words_},
		       STEP_TABLE(ROW)
#undef ROW
};

const char *step_name(uint32_t step)
{
	return steps[step < STEP_COUNT ? step : STEP_NONE].name;
}

const char *step_words(uint32_t step)
{
	return steps[step < STEP_COUNT ? step : STEP_NONE].words;
}
