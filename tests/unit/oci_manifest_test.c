/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests, their descriptors and media types. */
#include "tests/unit/oci_json.h"

#include "oci/bounds.h"
#include "oci/manifest.h"

#define CONFIG_D D(T_CONFIG, SHA_A, 2)
#define LAYER_D	 D(T_LAYER, SHA_B, 10)

static int parse(const char *text, struct manifest *ret, struct husk_error *err)
{
	char *json = json_of(text);
	int rc = manifest_parse(json, strlen(json), "doc", ret, err);

	free(json);
	return rc;
}

static struct manifest good(const char *text)
{
	struct manifest manifest = {0};
	struct husk_error err = {0};

	if (parse(text, &manifest, &err) != 0)
		fail_msg("%s: %s", text, err.message);
	return manifest;
}

static void refused_as(const char *text, int code, const char *message)
{
	struct manifest manifest = {.layer_count = 77};
	struct husk_error err = {0};

	assert_refused(text, parse(text, &manifest, &err), code, &err, message);
	assert_int_equal(manifest.layer_count, 77);
}

static void refused(const char *text, const char *message)
{
	refused_as(text, HUSK_E_IMAGE, message);
}

/* A manifest with this config, this list of layers. */
static char *with(const char *config, const char *layers)
{
	char *text = NULL;

	assert_true(asprintf(&text, "{'schemaVersion':2,'config':%s,'layers':%s}", config,
			     layers) > 0);
	return text;
}

static void media_types_are_known(void **state)
{
	static const struct {
		const char *type;
		struct media media;
	} rows[] = {
	    {T_MANIFEST, {MEDIA_MANIFEST, COMPRESSION_NONE, false, false}},
	    {T_INDEX, {MEDIA_INDEX, COMPRESSION_NONE, false, false}},
	    {T_CONFIG, {MEDIA_CONFIG, COMPRESSION_NONE, false, false}},
	    {T_LAYER, {MEDIA_LAYER, COMPRESSION_NONE, false, false}},
	    {T_LAYER "+gzip", {MEDIA_LAYER, COMPRESSION_GZIP, false, false}},
	    {T_LAYER "+zstd", {MEDIA_LAYER, COMPRESSION_ZSTD, false, false}},
	    {"application/vnd.oci.image.layer.nondistributable.v1.tar+gzip",
	     {MEDIA_LAYER, COMPRESSION_GZIP, true, false}},
	    {T_DOCKER_MANIFEST, {MEDIA_MANIFEST, COMPRESSION_NONE, false, true}},
	    {T_DOCKER_LIST, {MEDIA_INDEX, COMPRESSION_NONE, false, true}},
	    {T_DOCKER_CONFIG, {MEDIA_CONFIG, COMPRESSION_NONE, false, true}},
	    {T_DOCKER_LAYER, {MEDIA_LAYER, COMPRESSION_GZIP, false, true}},
	    {"application/vnd.docker.image.rootfs.diff.tar",
	     {MEDIA_LAYER, COMPRESSION_NONE, false, true}},
	    {"application/vnd.docker.image.rootfs.diff.tar.zstd",
	     {MEDIA_LAYER, COMPRESSION_ZSTD, false, true}},
	    {"application/vnd.docker.image.rootfs.foreign.diff.tar.gzip",
	     {MEDIA_LAYER, COMPRESSION_GZIP, true, true}},
	    {"application/vnd.docker.distribution.manifest.v1+json",
	     {MEDIA_SCHEMA1, COMPRESSION_NONE, false, true}},
	    {"application/vnd.docker.distribution.manifest.v1+prettyjws",
	     {MEDIA_SCHEMA1, COMPRESSION_NONE, false, true}},
	    {"APPLICATION/vnd.OCI.image.index.v1+json;x=y",
	     {MEDIA_INDEX, COMPRESSION_NONE, false, false}},
	    {T_INDEX " \t; charset=utf-8", {MEDIA_INDEX, COMPRESSION_NONE, false, false}},
	    {"", {MEDIA_OTHER, COMPRESSION_SNIFF, false, false}},
	    {";", {MEDIA_OTHER, COMPRESSION_SNIFF, false, false}},
	    {"application/octet-stream", {MEDIA_OTHER, COMPRESSION_SNIFF, false, false}},
	    {T_LAYER "+gzip+encrypted", {MEDIA_OTHER, COMPRESSION_SNIFF, false, false}},
	    {T_LAYER "x", {MEDIA_OTHER, COMPRESSION_SNIFF, false, false}},
	    {" " T_LAYER, {MEDIA_OTHER, COMPRESSION_SNIFF, false, false}},
	};
	(void)state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct media media = media_of(rows[i].type);

		if (media.kind != rows[i].media.kind ||
		    media.compression != rows[i].media.compression ||
		    media.foreign != rows[i].media.foreign ||
		    media.docker != rows[i].media.docker)
			fail_msg("%s", rows[i].type);
	}
}

static void what_is_asked_for_is_what_is_taken(void **state)
{
	char accept[1024];
	char *rest = NULL;
	int count = 0;
	(void)state;

	(void)snprintf(accept, sizeof(accept), "%s", media_accept());
	for (char *type = strtok_r(accept, ", ", &rest); type;
	     type = strtok_r(NULL, ", ", &rest), count++) {
		const enum media_kind kind = media_of(type).kind;

		assert_true(kind == MEDIA_MANIFEST || kind == MEDIA_INDEX);
	}
	assert_int_equal(count, 4);
}

static void a_manifest_is_read(void **state)
{
	struct manifest m =
	    good("{'schemaVersion':2,'mediaType':'" T_MANIFEST "','config':" CONFIG_D
		 ",'layers':[" LAYER_D ",{'mediaType':'" T_LAYER "+zstd','digest':"
		 "'sha512:" HEX_A HEX_B "','size':9007199254,'annotations':{'a':'b'}},"
		 "{'mediaType':'application/vnd.docker.image.rootfs.foreign.diff.tar."
		 "gzip','digest':'" SHA_A "','size':0,'urls':['http://x.example/y']}],"
		 "'annotations':{'org.opencontainers.image.title':'x'},'unknown':{}}");
	(void)state;

	assert_string_equal(m.config.media_type, T_CONFIG);
	assert_int_equal(m.config.media.kind, MEDIA_CONFIG);
	assert_string_equal(m.config.digest.hex, HEX_A);
	assert_int_equal(m.config.size, 2);
	assert_int_equal(m.layer_count, 3);
	assert_int_equal(m.layers[0].media.kind, MEDIA_LAYER);
	assert_int_equal(m.layers[0].size, 10);
	assert_false(m.layers[0].has_urls);
	assert_int_equal(m.layers[1].digest.algorithm, DIGEST_SHA512);
	assert_int_equal(m.layers[1].media.compression, COMPRESSION_ZSTD);
	assert_int_equal(m.layers[1].size, 9007199254);
	assert_true(m.layers[2].media.foreign);
	assert_true(m.layers[2].has_urls);
	assert_int_equal(m.layers[2].size, 0);
	manifest_deinit(&m);
	assert_null(m.layers);
	manifest_deinit(&m);
}

static void docker_and_oci_mix(void **state)
{
	struct manifest m =
	    good("{'mediaType':'" T_DOCKER_MANIFEST "','config':" CONFIG_D
		 ",'layers':[" LAYER_D "," D(T_DOCKER_LAYER, SHA_A, 1) "]}");
	(void)state;

	assert_false(m.config.media.docker);
	assert_true(m.layers[1].media.docker);
	manifest_deinit(&m);
	m = good("{'mediaType':'" T_MANIFEST
		 "','config':" D(T_DOCKER_CONFIG, SHA_A, 1) ",'layers':[" LAYER_D "]}");
	assert_true(m.config.media.docker);
	manifest_deinit(&m);
}

static void no_layers_are_an_empty_image(void **state)
{
	struct manifest m = good("{'config':" CONFIG_D ",'layers':[]}");
	(void)state;

	assert_int_equal(m.layer_count, 0);
	assert_null(m.layers);
	manifest_deinit(&m);
	m = good("{'config':" CONFIG_D ",'layers':null}");
	assert_int_equal(m.layer_count, 0);
	manifest_deinit(&m);
	refused("{'config':" CONFIG_D "}", "has no layers");
}

static void types_that_say_nothing_are_sniffed(void **state)
{
	static const char *const layers[] = {
	    "[{'digest':'" SHA_A "','size':1}]",
	    "[" D("", SHA_A, 1) "]",
	    "[" D("application/octet-stream", SHA_A, 1) "]",
	};
	static const char *const configs[] = {
	    "{'digest':'" SHA_A "','size':1}",
	    D("application/octet-stream", SHA_A, 1),
	    D("application/json", SHA_A, 1),
	    D("text/html", SHA_A, 1),
	};
	(void)state;

	for (size_t i = 0; i < COUNT(layers); i++) {
		char *text = with(CONFIG_D, layers[i]);
		struct manifest m = good(text);

		assert_int_equal(m.layers[0].media.kind, MEDIA_LAYER);
		assert_int_equal(m.layers[0].media.compression, COMPRESSION_SNIFF);
		manifest_deinit(&m);
		free(text);
	}
	for (size_t i = 0; i < COUNT(configs); i++) {
		char *text = with(configs[i], "[]");
		struct manifest m = good(text);

		assert_int_equal(m.config.media.kind, MEDIA_CONFIG);
		manifest_deinit(&m);
		free(text);
	}
}

static void what_is_no_image_is_refused(void **state)
{
	static const struct {
		const char *config, *layers, *message;
	} rows[] = {
	    {"null", "[]", "has no config"},
	    {"[]", "[]", "config: is not an object"},
	    {"'x'", "[]", "config: is not an object"},
	    {D("application/vnd.oci.empty.v1+json", SHA_A, 2), "[]",
	     "artifact, not an image"},
	    {D("application/vnd.cncf.helm.config.v1+json", SHA_A, 2), "[]",
	     "\"application/vnd.cncf.helm.config.v1+json\""},
	    {D("application/vnd.docker.plugin.v1+json", SHA_A, 2), "[]", "artifact"},
	    {D(T_LAYER, SHA_A, 2), "[]", "artifact"},
	    {CONFIG_D, "{}", "layers is not an array"},
	    {CONFIG_D, "'x'", "layers is not an array"},
	    {CONFIG_D, "[" LAYER_D ",null]", "layers[1]: is not an object"},
	    {CONFIG_D, "[[]]", "layers[0]: is not an object"},
	    {CONFIG_D, "[" D(T_LAYER "+gzip+encrypted", SHA_A, 2) "]", "layers[0]"},
	    {CONFIG_D, "[" D(T_LAYER "+xz", SHA_A, 2) "]", "no layer that husk"},
	    {CONFIG_D, "[" D("text/html", SHA_A, 2) "]", "\"text/html\""},
	    {CONFIG_D, "[" LAYER_D "," D(T_CONFIG, SHA_A, 2) "]", "layers[1]"},
	    {CONFIG_D, "[" D(T_MANIFEST, SHA_A, 2) "]", "layers[0]"},
	    {CONFIG_D, "[" D("x\\u001b[2J", SHA_A, 2) "]", "x\\x1b[2J"},
	};
	(void)state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *text = with(rows[i].config, rows[i].layers);

		refused(text, rows[i].message);
		free(text);
	}
	refused("{'mediaType':'" T_INDEX "','manifests':[]}", "an index");
	refused("{'config':" CONFIG_D ",'layers':[],'manifests':[]}", "ambiguous");
	refused("{'schemaVersion':1,'fsLayers':[]}", "schema 1");
	refused("[]", "not a JSON object");
}

static void descriptors_are_checked(void **state)
{
	static const struct {
		const char *layer, *message;
	} rows[] = {
	    /* sizes */
	    {"'digest':'" SHA_A "'", "has no size"},
	    {"'digest':'" SHA_A "','size':null", "has no size"},
	    {"'digest':'" SHA_A "','size':-1", "no whole number"},
	    {"'digest':'" SHA_A "','size':-9223372036854775808", "no whole number"},
	    {"'digest':'" SHA_A "','size':1.0", "no whole number"},
	    {"'digest':'" SHA_A "','size':1e2", "no whole number"},
	    {"'digest':'" SHA_A "','size':'1'", "no whole number"},
	    {"'digest':'" SHA_A "','size':true", "no whole number"},
	    {"'digest':'" SHA_A "','size':[1]", "no whole number"},
	    {"'digest':'" SHA_A "','size':68719476737", "at most 68719476736"},
	    {"'digest':'" SHA_A "','size':9007199254740993", "at most"},
	    {"'digest':'" SHA_A "','size':9223372036854775807", "at most"},
	    /* digests */
	    {"'size':1", "has no digest"},
	    {"'size':1,'digest':null", "has no digest"},
	    {"'size':1,'digest':''", "malformed digest"},
	    {"'size':1,'digest':7", "digest is not a string"},
	    {"'size':1,'digest':'sha256:" HEX_A "a'", "malformed digest"},
	    {"'size':1,'digest':'sha256:../../" HEX_A "'", "malformed digest"},
	    {"'size':1,'digest':'SHA256:" HEX_A "'", "malformed digest"},
	    {"'size':1,'digest':'sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709'",
	     "sha256 and sha512"},
	    /* the rest */
	    {"'size':1,'digest':'" SHA_A "','mediaType':7", "mediaType is not a string"},
	    {"'size':1,'digest':'" SHA_A "','urls':'x'", "urls is not an array"},
	    {"'size':1,'digest':'" SHA_A "','annotations':[]", "not an object"},
	    {"'size':1,'digest':'" SHA_A "','annotations':"
	     "{'org.opencontainers.image.ref.name':[]}",
	     "not a string"},
	    {"'size':1,'digest':'" SHA_A "','platform':'linux'", "not an object"},
	    {"'size':1,'digest':'" SHA_A "','Digest':'" SHA_B "'", "\"Digest\""},
	    {"'size':1,'digest':'" SHA_A "','SIZE':2", "\"SIZE\""},
	};
	(void)state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		char layers[512];
		char *text;

		(void)snprintf(layers, sizeof(layers), "[{%s}]", rows[i].layer);
		text = with(CONFIG_D, layers);
		refused(text, rows[i].message);
		free(text);
	}
}

static void a_config_is_small(void **state)
{
	char *text = with(D(T_CONFIG, SHA_A, 4194304), "[]");
	struct manifest m = good(text);
	(void)state;

	manifest_deinit(&m);
	free(text);
	text = with(D(T_CONFIG, SHA_A, 4194305), "[]");
	refused(text, "at most 4194304");
	free(text);
	/* also under a type that could be anything */
	text = with(D("application/octet-stream", SHA_A, 4194305), "[]");
	refused(text, "at most 4194304");
	free(text);
}

static char *many_layers(size_t count)
{
	char *text = malloc(256 + count * 256);
	size_t used;

	assert_non_null(text);
	used = (size_t)snprintf(text, 256, "{'config':" CONFIG_D ",'layers':[");
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, 256, "%s" LAYER_D, i ? "," : "");
	(void)snprintf(text + used, 8, "]}");
	return text;
}

static void layers_are_counted(void **state)
{
	char *text = many_layers(OCI_MAX_LAYERS);
	struct manifest m = good(text);
	(void)state;

	assert_int_equal(m.layer_count, OCI_MAX_LAYERS);
	manifest_deinit(&m);
	free(text);
	text = many_layers(OCI_MAX_LAYERS + 1);
	refused(text, "513 entries, and at most 512");
	free(text);
}

static void a_type_has_an_end(void **state)
{
	char type[200], layer[400];
	char *text;
	(void)state;

	memset(type, 'x', 128);
	type[128] = '\0';
	(void)snprintf(layer, sizeof(layer),
		       "[{'mediaType':'%s','digest':'" SHA_A "','size':1}]", type);
	text = with(CONFIG_D, layer);
	refused(text, "mediaType has 128 bytes, and at most 127");
	free(text);
}

int main(void)
{
	const struct CMUnitTest oci_manifest[] = {
	    cmocka_unit_test(media_types_are_known),
	    cmocka_unit_test(what_is_asked_for_is_what_is_taken),
	    cmocka_unit_test(a_manifest_is_read),
	    cmocka_unit_test(docker_and_oci_mix),
	    cmocka_unit_test(no_layers_are_an_empty_image),
	    cmocka_unit_test(types_that_say_nothing_are_sniffed),
	    cmocka_unit_test(what_is_no_image_is_refused),
	    cmocka_unit_test(descriptors_are_checked),
	    cmocka_unit_test(a_config_is_small),
	    cmocka_unit_test(layers_are_counted),
	    cmocka_unit_test(a_type_has_an_end),
	};

	return cmocka_run_group_tests(oci_manifest, NULL, NULL);
}
