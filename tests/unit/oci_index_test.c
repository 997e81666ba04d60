/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes, and which of their entries is for a platform. */
#include "tests/unit/oci_json.h"

#include "oci/bounds.h"
#include "oci/manifest.h"

/* An entry for a platform; its size tells which one was taken. */
#define E(os, arch, size)                                                  \
	"{'mediaType':'" T_MANIFEST "','digest':'" SHA_A "','size':" #size \
	",'platform':{'os':'" os "','architecture':'" arch "'}}"
#define EV(os, arch, variant, size)                                        \
	"{'mediaType':'" T_MANIFEST "','digest':'" SHA_A "','size':" #size \
	",'platform':{'os':'" os "','architecture':'" arch "','variant':'" variant "'}}"
#define ATTESTATION                                                               \
	"{'mediaType':'" T_MANIFEST "','digest':'" SHA_A "','size':1,'platform':" \
	"{'os':'unknown','architecture':'unknown'},'annotations':{"               \
	"'vnd.docker.reference.digest':'" SHA_B "',"                              \
	"'vnd.docker.reference.type':'attestation-manifest'}}"

static int parse(const char *text, struct index *ret, struct husk_error *err)
{
	char *json = json_of(text);
	int rc = index_parse(json, strlen(json), "doc", ret, err);

	free(json);
	return rc;
}

static struct index good(const char *text)
{
	struct index index = {0};
	struct husk_error err = {0};

	if (parse(text, &index, &err) != 0)
		fail_msg("%s: %s", text, err.message);
	return index;
}

static void refused(const char *text, const char *message)
{
	struct index index = {.count = 77};
	struct husk_error err = {0};

	assert_refused(text, parse(text, &index, &err), HUSK_E_IMAGE, &err, message);
	assert_int_equal(index.count, 77);
}

static void an_index_is_read(void **state)
{
	struct index index = good(
	    "{'schemaVersion':2,'mediaType':'" T_INDEX
	    "','manifests':[{'mediaType':'" T_MANIFEST "','digest':'" SHA_A
	    "','size':5,'platform':{'os':'Linux','architecture':'aarch64','variant':'v8',"
	    "'os.features':['x'],'os.version':'1'},'annotations':{"
	    "'org.opencontainers.image.ref.name':'3.12',"
	    "'io.containerd.image.name':'docker.io/library/python:3.12'}},"
	    "{'mediaType':'" T_INDEX "','digest':'" SHA_B "','size':6}," ATTESTATION
	    "]}");
	char text[84];
	(void)state;

	assert_int_equal(index.count, 3);
	platform_text(&index.manifests[0].platform, text);
	assert_string_equal(text, "linux/arm64");
	assert_string_equal(index.manifests[0].ref_name, "3.12");
	assert_string_equal(index.manifests[0].image_name,
			    "docker.io/library/python:3.12");
	assert_false(index.manifests[0].attestation);
	assert_int_equal(index.manifests[1].media.kind, MEDIA_INDEX);
	assert_string_equal(index.manifests[1].platform.os, "");
	assert_true(index.manifests[2].attestation);
	index_deinit(&index);
	assert_null(index.manifests);
	index_deinit(&index);
}

static void what_is_no_index_is_refused(void **state)
{
	(void)state;

	refused("{'config':{},'layers':[]}", "a manifest, not an index");
	refused("{'mediaType':'" T_INDEX "'}", "has no manifests");
	refused("{'manifests':{}}", "manifests is not an array");
	refused("{'manifests':'x'}", "manifests is not an array");
	refused("{'manifests':[1]}", "manifests[0]: is not an object");
	refused("{'manifests':[" E("linux", "amd64", 1) "," E("linux", "amd64", -1) "]}",
		"manifests[1]");
	refused("{'manifests':[],'layers':[]}", "ambiguous");
	refused("{'manifests':[" E("linux", "amd64", 4194305) "]}", "at most 4194304");
	refused("{'manifests':[{'digest':'" SHA_A "','size':1,'platform':"
		"{'os':7,'architecture':'amd64'}}]}",
		"os is not a string");
	refused("{'manifests':[" E("linux", "123456789012345678901234567890123", 1) "]}",
		"architecture has 33 bytes, and at most 31");
	refused("{'manifests':[" EV("linux", "arm", "12345678901234567", 1) "]}",
		"variant has 17 bytes");
}

static char *many(size_t count)
{
	static const char entry[] = "{'digest':'" SHA_A "','size':1}";
	char *text = malloc(32 + count * (sizeof(entry) + 1));
	size_t used = 0;

	assert_non_null(text);
	used += (size_t)snprintf(text, 32, "{'manifests':[");
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, sizeof(entry) + 1, "%s%s",
					 i ? "," : "", entry);
	(void)snprintf(text + used, 8, "]}");
	return text;
}

static void entries_are_counted(void **state)
{
	char *text = many(OCI_MAX_MANIFESTS);
	struct index index = good(text);
	(void)state;

	assert_int_equal(index.count, OCI_MAX_MANIFESTS);
	index_deinit(&index);
	free(text);
	text = many(OCI_MAX_MANIFESTS + 1);
	refused(text, "4097 entries, and at most 4096");
	free(text);
}

/* Which entry a platform gets: by its size; 0 for none. */
static const struct {
	const char *manifests, *wanted;
	uint64_t size;
} choices[] = {
    {E("linux", "amd64", 1), "linux/amd64", 1},
    {E("linux", "arm64", 1) "," E("linux", "amd64", 2), "linux/amd64", 2},
    {E("windows", "amd64", 1) "," E("linux", "amd64", 2), "linux/amd64", 2},
    /* the first of equals */
    {E("linux", "amd64", 1) "," E("linux", "amd64", 2), "linux/amd64", 1},
    {E("linux", "x86_64", 1) "," E("linux", "amd64", 2), "linux/amd64", 1},
    {EV("linux", "arm64", "v8", 1) "," E("linux", "arm64", 2), "linux/arm64", 1},
    /* variants: the nearest below */
    {EV("linux", "arm", "v5", 1) "," EV("linux", "arm", "v6", 2) "," EV("linux", "arm",
									"v7", 3),
     "linux/arm/v7", 3},
    {EV("linux", "arm", "v5", 1) "," EV("linux", "arm", "v6", 2) "," EV("linux", "arm",
									"v7", 3),
     "linux/arm/v6", 2},
    {EV("linux", "arm", "v7", 1) "," EV("linux", "arm", "v5", 2), "linux/arm/v6", 2},
    {EV("linux", "arm", "v7", 1), "linux/arm/v6", 0},
    {EV("linux", "arm", "v5", 1) "," EV("linux", "arm", "v6", 2), "linux/arm/v8", 2},
    {E("linux", "arm", 1) "," EV("linux", "arm", "v6", 2), "linux/arm", 1},
    {EV("linux", "amd64", "v4", 4) "," EV("linux", "amd64", "v2", 2) "," E("linux",
									   "amd64", 1),
     "linux/amd64/v3", 2},
    {EV("linux", "amd64", "v2", 2) "," E("linux", "amd64", 1), "linux/amd64", 1},
    {EV("linux", "amd64", "v2", 2), "linux/amd64", 0},
    /* attestations never */
    {ATTESTATION "," E("linux", "amd64", 2), "linux/amd64", 2},
    {ATTESTATION, "linux/amd64", 0},
    {E("unknown", "unknown", 1), "linux/amd64", 0},
    {"{'digest':'" SHA_A "','size':1,'annotations':"
     "{'vnd.docker.reference.type':'attestation-manifest'}}",
     "linux/amd64", 0},
    /* an index in the index, with a platform or without */
    {D(T_INDEX, SHA_A, 1), "linux/amd64", 1},
    {D(T_INDEX, SHA_A, 1) "," E("linux", "amd64", 2), "linux/amd64", 2},
    {D(T_INDEX, SHA_A, 1) "," E("linux", "arm64", 2), "linux/amd64", 1},
    {"{'mediaType':'" T_INDEX "','digest':'" SHA_A "','size':3,'platform':"
     "{'os':'linux','architecture':'arm64'}}," D(T_INDEX, SHA_A, 1),
     "linux/amd64", 1},
    /* what tells no platform */
    {D(T_MANIFEST, SHA_A, 1), "linux/riscv64", 1},
    {D(T_MANIFEST, SHA_A, 1) "," D(T_MANIFEST, SHA_A, 2), "linux/amd64", 1},
    {"{'digest':'" SHA_A "','size':1}", "linux/amd64", 1},
    {"{'digest':'" SHA_A "','size':1,'platform':{}}", "linux/amd64", 1},
    {"{'digest':'" SHA_A "','size':1,'platform':null}", "linux/amd64", 1},
    {"{'digest':'" SHA_A "','size':1,'platform':{'os':'linux'}}", "linux/amd64", 0},
    /* what is no image */
    {D(T_LAYER, SHA_A, 1), "linux/amd64", 0},
    {D("application/xml", SHA_A, 1) "," D(T_MANIFEST, SHA_A, 2), "linux/amd64", 2},
    {"", "linux/amd64", 0},
};

static void the_right_entry_is_chosen(void **state)
{
	(void)state;

	for (size_t i = 0; i < COUNT(choices); i++) {
		const struct descriptor *chosen = NULL;
		struct husk_error err = {0};
		struct platform wanted;
		struct index index;
		char *text = NULL;
		int rc;

		assert_int_equal(platform_parse(choices[i].wanted, &wanted, NULL), 0);
		assert_true(asprintf(&text, "{'manifests':[%s]}", choices[i].manifests) >
			    0);
		index = good(text);
		rc = index_choose(&index, &wanted, "doc", &chosen, &err);
		if (choices[i].size > 0) {
			if (rc != 0)
				fail_msg("%s: %s", choices[i].manifests, err.message);
			assert_int_equal(chosen->size, choices[i].size);
		} else {
			assert_refused(text, rc, HUSK_E_IMAGE, &err, "image");
			assert_null(chosen);
		}
		index_deinit(&index);
		free(text);
	}
}

static void the_platforms_are_named(void **state)
{
	struct index index =
	    good("{'manifests':[" E("linux", "arm64", 1) "," ATTESTATION "," EV(
		"linux", "arm", "v7", 1) "," E("linux", "arm64", 1) "," E("x\\u001b[2J",
									  "y", 1) "]}");
	const struct descriptor *chosen = NULL;
	const struct platform wanted = {"linux", "amd64", "v3"};
	struct husk_error err = {0};
	(void)state;

	assert_int_equal(index_choose(&index, &wanted, "doc", &chosen, &err),
			 HUSK_E_IMAGE);
	assert_string_equal(err.message,
			    "has no image for linux/amd64/v3; it has linux/arm64, "
			    "linux/arm/v7, x\\x1b[2j/y");
	assert_non_null(strstr(err.hint, "--platform"));
	index_deinit(&index);
}

/* More platforms than fit: the message ends in "...". */
static void a_long_list_of_platforms_is_cut(void **state)
{
	struct descriptor entries[100] = {0};
	const struct index index = {entries, COUNT(entries)};
	const struct descriptor *chosen = NULL;
	const struct platform wanted = {"linux", "amd64", ""};
	struct husk_error err = {0};
	(void)state;

	for (size_t i = 0; i < COUNT(entries); i++) {
		(void)snprintf(entries[i].platform.os, sizeof(entries[i].platform.os),
			       "os%zu", i);
		(void)snprintf(entries[i].platform.architecture,
			       sizeof(entries[i].platform.architecture), "amd64");
	}
	assert_int_equal(index_choose(&index, &wanted, "doc", &chosen, &err),
			 HUSK_E_IMAGE);
	assert_string_equal(err.message + strlen(err.message) - 5, ", ...");
	assert_true(strlen(err.message) < sizeof(err.message) - 1);
}

int main(void)
{
	const struct CMUnitTest oci_index[] = {
	    cmocka_unit_test(an_index_is_read),
	    cmocka_unit_test(what_is_no_index_is_refused),
	    cmocka_unit_test(entries_are_counted),
	    cmocka_unit_test(the_right_entry_is_chosen),
	    cmocka_unit_test(the_platforms_are_named),
	    cmocka_unit_test(a_long_list_of_platforms_is_cut),
	};

	return cmocka_run_group_tests(oci_index, NULL, NULL);
}
