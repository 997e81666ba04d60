/* SPDX-License-Identifier: Apache-2.0 */
/* What the linker puts in the place of stdin in the wheel's library (wheel.mk): never
 * equal to any stream. */
#include <stdio.h>

extern FILE *__wrap_stdin;
FILE *__wrap_stdin;
