/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any bytes as a token server's answer. A token that is taken can stand in a
 * header, and lives for a while that makes sense. */
#include "tests/fuzz/fuzz.h"

#include "oci/bounds.h"
#include "oci/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct husk_error err = {0};
	struct token token = {0};
	int rc = token_parse((const char *)data, size, "auth.example", &token, &err);

	if (rc == 0) {
		require(token_fit(token.value));
		require(token.life_s >= 1 && token.life_s <= OCI_MAX_TOKEN_LIFE_S);
		for (const char *at = token.value; *at; at++)
			require(*at > ' ' && *at <= '~');
	} else {
		require_refusal(rc, &err);
	}
	token_deinit(&token);
	return 0;
}
