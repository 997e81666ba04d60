/* SPDX-License-Identifier: Apache-2.0 */
/* What reads documents and computes digests, with every allocation failing once: each
 * gives HUSK_E_MEMORY or the right answer, and leaves nothing allocated. */
#include "tests/unit/failing_malloc.h"
#include "tests/unit/oci_json.h"
#include "tests/unit/skipping.h"

#include "oci/config.h"
#include "oci/digest.h"
#include "oci/manifest.h"
#include "oci/reference.h"

#if !FAILING_MALLOC

/* A sanitizer has taken the place of malloc already. */
static void every_allocation_fails_once(void **state)
{
	(void)state;
	skip_because("a sanitizer has taken the place of malloc already");
}

#else

#define MANIFEST                                                              \
	"{'schemaVersion':2,'config':" D(T_CONFIG, SHA_A, 2) ",'layers':[" D( \
	    T_LAYER, SHA_A, 3) "," D(T_DOCKER_LAYER, SHA_B,                   \
				     4) "],'annotations':{"                   \
					"'a':'b','c':[1,2.5,null]}}"
#define INDEX                                                          \
	"{'manifests':[{'mediaType':'" T_MANIFEST "','digest':'" SHA_A \
	"','size':1,'platform':{'os':'linux','architecture':'amd64'}}]}"
#define CONFIG                                                                       \
	"{'os':'linux','rootfs':{'diff_ids':['" SHA_A "','" SHA_B                    \
	"']},'config':{'Env':['A=1','x','B=2'],'Cmd':['sh'],'Entrypoint':['a','b']," \
	"'User':'u','WorkingDir':'/w'},'created':'now'}"

static char *manifest_text, *index_text, *config_text;

/* Each returns what the calls returned; everything that it got is released. */
static int use_manifest(void)
{
	struct manifest manifest = {0};
	int rc =
	    manifest_parse(manifest_text, strlen(manifest_text), "doc", &manifest, NULL);

	if (rc == 0 && manifest.layer_count != 2)
		rc = 1;
	manifest_deinit(&manifest);
	return rc;
}

static int use_index(void)
{
	const struct platform wanted = {"linux", "amd64", ""};
	const struct descriptor *chosen = NULL;
	struct husk_error err = {0};
	struct index index = {0};
	int rc = index_parse(index_text, strlen(index_text), "doc", &index, &err);

	if (rc == 0)
		rc = index_choose(&index, &wanted, "doc", &chosen, &err);
	if (rc == 0 && chosen->size != 1)
		rc = 1;
	index_deinit(&index);
	return rc == 0 || rc == err.code ? rc : 2;
}

static int use_config(void)
{
	struct image_config config = {0};
	struct digest chain;
	int rc =
	    image_config_parse(config_text, strlen(config_text), "doc", &config, NULL);

	if (rc == 0)
		rc = image_config_chain(&config, 2, &chain, NULL);
	if (rc == 0 && (!config.env[1] || config.env[2]))
		rc = 1;
	image_config_deinit(&config);
	return rc;
}

static int use_digest(void)
{
	struct digest small, large;
	int rc = digest_of(DIGEST_SHA256, "abc", 3, &small, NULL);

	if (rc < 0)
		return rc;
	rc = digest_of(DIGEST_SHA512, "abc", 3, &large, NULL);
	if (rc < 0)
		return rc;
	return strncmp(small.hex, "ba7816bf", 8) == 0 &&
		       strncmp(large.hex, "ddaf35a1", 8) == 0
		   ? 0
		   : 1;
}

/* A name needs no memory at all. */
static int use_reference(void)
{
	struct reference reference;
	int rc = reference_parse("h.x:1/a:t@" SHA_A, &reference, NULL);

	return allocation > 0 ? 1 : rc;
}

static void every_allocation_fails_once(void **state)
{
	static int (*const uses[])(void) = {use_digest, use_reference, use_manifest,
					    use_index, use_config};
	int failed = 0;
	(void)state;

	manifest_text = json_of(MANIFEST);
	index_text = json_of(INDEX);
	config_text = json_of(CONFIG);
	for (size_t i = 0; i < COUNT(uses); i++) {
		long rounds = 0;
		int rc;

		allocation = 0;
		assert_int_equal(uses[i](), 0); /* what is allocated once for good */
		do {
			allocation = alive = 0;
			fail_at = ++rounds;
			failing = true;
			rc = uses[i]();
			failing = false;
			if (rc != 0 && rc != HUSK_E_MEMORY)
				fail_msg("use %zu, allocation %ld: %d", i, rounds, rc);
			if (alive != 0)
				fail_msg("use %zu, allocation %ld: %ld left", i, rounds,
					 alive);
			failed += rc != 0;
		} while (allocation >= rounds);
		assert_int_equal(rc, 0);
	}
	assert_true(failed > 100);
	free(manifest_text);
	free(index_text);
	free(config_text);
}

#endif

int main(void)
{
	const struct CMUnitTest oci_document_memory[] = {
	    cmocka_unit_test(every_allocation_fails_once),
	};

	return cmocka_run_group_tests(oci_document_memory, NULL, NULL);
}
