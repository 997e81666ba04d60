/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "oci/oci.h"
#include "oci/reference.h"

int oci_reference_check(const char *reference, struct husk_error *err)
{
	/* Sorted. */
	static const char *const places[] = {"docker-archive:", "oci-archive:", "oci:"};
	struct reference parsed;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		size_t size = strlen(places[i]);

		if (strncmp(reference, places[i], size) != 0)
			continue;
		if (reference[size] != '\0')
			return 0;
		error_set(err, HUSK_E_INVALID, "image", "%s names no path", reference);
		error_hint(err, "write the path after the colon: %sPATH", reference);
		return HUSK_E_INVALID;
	}
	return reference_parse(reference, &parsed, err);
}
