/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest program: what is left when it is timed is the start itself. */
#include "base/rawsys.h"

void _start(void);
void _start(void)
{
	raw1(SYS_exit_group, 0);
}
