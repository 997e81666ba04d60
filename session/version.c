/* SPDX-License-Identifier: Apache-2.0 */
#include <husk/version.h>

#include "version.h"

const char *husk_version(void)
{
	return HUSK_VERSION_STRING;
}
