/* SPDX-License-Identifier: Apache-2.0 */
/* Text of unknown origin made fit for a terminal. File names, image references and
 * messages of a box can hold any byte; what is printed here holds no control character of
 * any kind and is valid UTF-8. */
#ifndef CLI_ESCAPE_H
#define CLI_ESCAPE_H

#include <stddef.h>

/* Also double the backslash, so that the original can be told from the printed form. */
#define CLI_ESCAPE_EXACT 1u
/* Leave line feeds and tabs as they are, for texts that are laid out in lines. */
#define CLI_ESCAPE_LINES 2u

/* Write size bytes of text to out, with \xNN for every byte of a control character (C0,
 * C1, DEL, line separators, marks that turn the writing direction) and every byte that is
 * not UTF-8. Ends with NUL; text that does not fit in capacity (at least 1) is cut
 * between two characters. Returns the length without the NUL; 4 * size + 1 bytes always
 * suffice. */
size_t cli_escape(char *out, size_t capacity, const char *text, size_t size,
		  unsigned flags);

#endif
