/* SPDX-License-Identifier: Apache-2.0 */
/* Mounts that are allowed and show a box what nobody means to show it: keys, tokens and
 * passwords of the caller. */
#ifndef CLI_CREDENTIALS_H
#define CLI_CREDENTIALS_H

#include "cli/settings.h"

/* Say on stderr which volumes, and whether the workspace, lie in such places or hold one.
 * What is refused is the library's business (husk/options.h). */
void cli_credentials_warn(const struct cli_settings *settings);

#endif
