/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SESSION_RESULT_H
#define SESSION_RESULT_H

#include <husk/result.h>
#include <husk/session.h>

#include "runtime/box.h"
#include "runtime/verdict.h"

struct husk_result {
	struct box_outcome outcome;
	struct verdict verdict;
	int spare;	       /* enum husk_spare */
	husk_listing *changes; /* NULL: none known */
	char exec_error[512];  /* "" where a program ran */
	char hint[512];
};

#endif
