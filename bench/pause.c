/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest program that stays: what an idle box needs besides is the box's own. */
#include "base/rawsys.h"

void _start(void);
void _start(void)
{
	for (;;)
		raw4(SYS_ppoll, 0, 0, 0, 0);
}
