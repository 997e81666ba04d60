/* SPDX-License-Identifier: Apache-2.0 */
/* --explain-denials: what the box was refused, for a person, on stderr. */
#ifndef CLI_DENIALS_H
#define CLI_DENIALS_H

#include <husk/result.h>

void cli_denials_say(const husk_result *result);

#endif
