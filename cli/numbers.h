/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as they are typed: plain decimal, the same in every locale. No sign, space,
 * exponent, hexadecimal or other trailing text; a value that is zero or too large is an
 * error and never stands for "no limit".
 *
 * Each function returns 0, -EINVAL where the text is not such a number, or -ERANGE where
 * the number is zero or passes the maximum. *ret is written on success only. */
#ifndef CLI_NUMBERS_H
#define CLI_NUMBERS_H

#include <stdint.h>

/* A whole number from 1 to max. */
int cli_number_count(const char *text, uint64_t max, uint64_t *ret);

/* A size in bytes: a whole number with an optional k, m or g in either case (powers of
 * 1024). At most INT64_MAX, which is what files and the kernel's counters can hold. */
int cli_number_size(const char *text, uint64_t *ret_bytes);

/* Thousandths: "30", "0.5" or ".5" times 1000. Digits after the third are dropped, so a
 * value below 0.001 is zero and refused. At most max thousandths. */
int cli_number_milli(const char *text, uint64_t max, uint64_t *ret);

#endif
