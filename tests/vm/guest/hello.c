/* SPDX-License-Identifier: Apache-2.0 */
/* Proof that a program compiled on the host runs in the machine (facts.py). */
#include <stdio.h>

int main(void)
{
	puts("hello from a static program");
	return 7;
}
