/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: any bytes as the config of an image. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "oci/bounds.h"
#include "oci/config.h"

static void check_good(const struct image_config *config)
{
	struct digest chain;

	require(config->diff_id_count <= OCI_MAX_LAYERS);
	require(config->env && config->entrypoint && config->cmd);
	require(config->user && config->workdir && config->created);
	for (char **variable = config->env; *variable; variable++)
		require(strchr(*variable, '=') > *variable);
	require(image_config_chain(config, config->diff_id_count, &chain, NULL) == 0);
	require((chain.algorithm == DIGEST_NONE) == (config->diff_id_count == 0));
	require(image_config_chain(config, config->diff_id_count + 1, &chain, NULL) < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image_config config = {0};
	struct husk_error err = {0};
	int rc = image_config_parse((const char *)data, size, "input", &config, &err);

	if (rc == 0)
		check_good(&config);
	else
		require_refusal(rc, &err);
	image_config_deinit(&config);
	return 0;
}
