/* SPDX-License-Identifier: Apache-2.0 */
/* The configs of images, and the chain ids of their layers. */
#include "tests/unit/oci_json.h"

#include "oci/bounds.h"
#include "oci/config.h"

#define ROOTFS "'rootfs':{'type':'layers','diff_ids':['" SHA_A "']}"

static int parse(const char *text, struct image_config *ret, struct husk_error *err)
{
	char *json = json_of(text);
	int rc = image_config_parse(json, strlen(json), "doc", ret, err);

	free(json);
	return rc;
}

static struct image_config good(const char *text)
{
	struct image_config config = {0};
	struct husk_error err = {0};

	if (parse(text, &config, &err) != 0)
		fail_msg("%s: %s", text, err.message);
	return config;
}

static void a_config_is_read(void **state)
{
	struct image_config c = good(
	    "{'created':'2024-01-02T03:04:05Z','architecture':'aarch64','os':'Linux',"
	    "'variant':'v8','config':{'User':'app:app','WorkingDir':'/srv',"
	    "'ExposedPorts':{'80/tcp':{}},'Volumes':{'/data':{}},'Labels':{'a':'b'},"
	    "'StopSignal':'SIGTERM','Healthcheck':{'Test':['NONE']},'ArgsEscaped':true,"
	    "'Env':['PATH=/bin','EMPTY=','A=b=c'],'Entrypoint':['/init','--'],"
	    "'Cmd':['sh','-c','echo $A']},'rootfs':{'type':'layers','diff_ids':["
	    "'" SHA_A "','" SHA_B "','sha512:" HEX_A HEX_A "']},"
	    "'history':[{'created_by':'x','empty_layer':true}],'container':'x'}");
	char text[84];
	(void)state;

	platform_text(&c.platform, text);
	assert_string_equal(text, "linux/arm64");
	assert_string_equal(c.created, "2024-01-02T03:04:05Z");
	assert_string_equal(c.user, "app:app");
	assert_string_equal(c.workdir, "/srv");
	assert_string_equal(c.env[0], "PATH=/bin");
	assert_string_equal(c.env[1], "EMPTY=");
	assert_string_equal(c.env[2], "A=b=c");
	assert_null(c.env[3]);
	assert_string_equal(c.entrypoint[0], "/init");
	assert_string_equal(c.entrypoint[1], "--");
	assert_null(c.entrypoint[2]);
	assert_string_equal(c.cmd[2], "echo $A");
	assert_null(c.cmd[3]);
	assert_int_equal(c.diff_id_count, 3);
	assert_string_equal(c.diff_ids[1].hex, HEX_B);
	assert_int_equal(c.diff_ids[2].algorithm, DIGEST_SHA512);
	image_config_deinit(&c);
	assert_null(c.env);
	image_config_deinit(&c);
}

/* All that may be missing, in each way of being missing. */
static void little_is_needed(void **state)
{
	static const char *const rows[] = {
	    "{'rootfs':{}}",
	    "{'rootfs':{'type':'layers','diff_ids':[]}}",
	    "{'rootfs':{'type':null,'diff_ids':null},'config':null,'created':null,"
	    "'os':null,'architecture':null}",
	    "{'rootfs':{'diff_ids':[]},'config':{}}",
	    "{'rootfs':{},'config':{'Env':null,'Entrypoint':null,'Cmd':null,'User':null,"
	    "'WorkingDir':null}}",
	    "{'rootfs':{},'config':{'Env':[],'Entrypoint':[],'Cmd':[],'User':'',"
	    "'WorkingDir':''}}",
	};
	(void)state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct image_config c = good(rows[i]);

		assert_int_equal(c.diff_id_count, 0);
		assert_null(c.env[0]);
		assert_null(c.entrypoint[0]);
		assert_null(c.cmd[0]);
		assert_string_equal(c.user, "");
		assert_string_equal(c.workdir, "");
		assert_string_equal(c.created, "");
		assert_string_equal(c.platform.os, "");
		image_config_deinit(&c);
	}
}

static void variables_without_a_name_or_a_value_are_left_out(void **state)
{
	struct image_config c = good("{" ROOTFS ",'config':{'Env':['NOVALUE','A=1','',"
				     "'=x','B=2','=']}}");
	(void)state;

	assert_string_equal(c.env[0], "A=1");
	assert_string_equal(c.env[1], "B=2");
	assert_null(c.env[2]);
	image_config_deinit(&c);
	/* a command may hold empty words */
	c = good("{" ROOTFS ",'config':{'Cmd':['sh','','=']}}");
	assert_string_equal(c.cmd[1], "");
	assert_string_equal(c.cmd[2], "=");
	assert_null(c.cmd[3]);
	image_config_deinit(&c);
}

static void what_is_no_config_is_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
	    {"{}", "has no rootfs"},
	    {"{'rootfs':null}", "has no rootfs"},
	    {"{'rootfs':[]}", "rootfs is not an object"},
	    {"{'rootfs':{'type':'other','diff_ids':[]}}", "not \"layers\""},
	    {"{'rootfs':{'type':1,'diff_ids':[]}}", "type is not a string"},
	    {"{'rootfs':{'diff_ids':{}}}", "diff_ids is not an array"},
	    {"{'rootfs':{'diff_ids':'" SHA_A "'}}", "diff_ids is not an array"},
	    {"{'rootfs':{'diff_ids':[1]}}", "diff_ids[0]: is not a string"},
	    {"{'rootfs':{'diff_ids':['" SHA_A "',null]}}", "diff_ids[1]: is not a str"},
	    {"{'rootfs':{'diff_ids':['" HEX_A "']}}", "malformed digest"},
	    {"{'rootfs':{'diff_ids':['sha256:\\u001b']}}", "\\x1b"},
	    {"{'rootfs':{'diff_ids':['md5:00']}}", "sha256 and sha512"},
	    {"{" ROOTFS ",'config':[]}", "config is not an object"},
	    {"{" ROOTFS ",'config':{'Env':{}}}", "Env is not an array"},
	    {"{" ROOTFS ",'config':{'Env':'A=1'}}", "Env is not an array"},
	    {"{" ROOTFS ",'config':{'Env':['A=1',2]}}", "Env[1] is not a string"},
	    {"{" ROOTFS ",'config':{'Env':[null]}}", "Env[0] is not a string"},
	    {"{" ROOTFS ",'config':{'Entrypoint':'/bin/sh'}}", "Entrypoint is not an a"},
	    {"{" ROOTFS ",'config':{'Cmd':[['sh']]}}", "Cmd[0] is not a string"},
	    {"{" ROOTFS ",'config':{'Cmd':['a\\u0000b']}}", "not JSON"},
	    {"{" ROOTFS ",'config':{'User':1000}}", "User is not a string"},
	    {"{" ROOTFS ",'config':{'WorkingDir':[]}}", "WorkingDir is not a string"},
	    {"{" ROOTFS ",'created':7}", "created is not a string"},
	    {"{" ROOTFS ",'os':7}", "os is not a string"},
	    {"{" ROOTFS ",'architecture':['amd64']}", "architecture is not a string"},
	    {"{" ROOTFS ",'os':'123456789012345678901234567890123'}", "at most 31"},
	    {"{" ROOTFS "," ROOTFS "}", "not JSON"},
	    {"[]", "not a JSON object"},
	};
	(void)state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct image_config config = {.diff_id_count = 77};
		struct husk_error err = {0};

		assert_refused(rows[i].text, parse(rows[i].text, &config, &err),
			       HUSK_E_IMAGE, &err, rows[i].message);
		assert_int_equal(config.diff_id_count, 77);
	}
}

static char *many(size_t count)
{
	static const char one[] = "'" SHA_A "'";
	char *text = malloc(64 + count * (sizeof(one) + 1));
	size_t used;

	assert_non_null(text);
	used = (size_t)snprintf(text, 64, "{'rootfs':{'diff_ids':[");
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, sizeof(one) + 1, "%s%s",
					 i ? "," : "", one);
	(void)snprintf(text + used, 8, "]}}");
	return text;
}

static void diff_ids_are_counted(void **state)
{
	char *text = many(OCI_MAX_LAYERS);
	struct image_config config = good(text);
	struct husk_error err = {0};
	(void)state;

	assert_int_equal(config.diff_id_count, OCI_MAX_LAYERS);
	image_config_deinit(&config);
	free(text);
	text = many(OCI_MAX_LAYERS + 1);
	assert_refused("513", parse(text, &config, &err), HUSK_E_IMAGE, &err,
		       "513 entries, and at most 512");
	free(text);
}

/* Against sha256 of the text that the specification says, done another way. */
static void chains_are_made_by_the_rule(void **state)
{
	struct image_config c = good("{'rootfs':{'diff_ids':['" SHA_A "','" SHA_B
				     "','sha512:" HEX_A HEX_B "']}}");
	static const char two[] = SHA_A " " SHA_B;
	struct digest chain, by_hand;
	struct husk_error err = {0};
	char three[2 * DIGEST_TEXT + 1], text[DIGEST_TEXT];
	(void)state;

	assert_int_equal(image_config_chain(&c, 0, &chain, &err), 0);
	assert_int_equal(chain.algorithm, DIGEST_NONE);
	assert_int_equal(image_config_chain(&c, 1, &chain, &err), 0);
	assert_true(digest_equal(&chain, &c.diff_ids[0]));

	assert_int_equal(image_config_chain(&c, 2, &chain, &err), 0);
	assert_int_equal(digest_of(DIGEST_SHA256, two, strlen(two), &by_hand, NULL), 0);
	assert_true(digest_equal(&chain, &by_hand));
	assert_string_equal(
	    chain.hex,
	    "ccd722928bd92476ba1745586fed6e45a102504185ad88cd89e01ff116fd146c");

	digest_text(&by_hand, text);
	(void)snprintf(three, sizeof(three), "%s sha512:" HEX_A HEX_B, text);
	assert_int_equal(image_config_chain(&c, 3, &chain, &err), 0);
	assert_int_equal(digest_of(DIGEST_SHA256, three, strlen(three), &by_hand, NULL),
			 0);
	assert_true(digest_equal(&chain, &by_hand));
	assert_int_equal(chain.algorithm, DIGEST_SHA256);

	assert_int_equal(image_config_chain(&c, 4, &chain, &err), HUSK_E_INVALID);
	image_config_deinit(&c);
}

int main(void)
{
	const struct CMUnitTest oci_config[] = {
	    cmocka_unit_test(a_config_is_read),
	    cmocka_unit_test(little_is_needed),
	    cmocka_unit_test(variables_without_a_name_or_a_value_are_left_out),
	    cmocka_unit_test(what_is_no_config_is_refused),
	    cmocka_unit_test(diff_ids_are_counted),
	    cmocka_unit_test(chains_are_made_by_the_rule),
	};

	return cmocka_run_group_tests(oci_config, NULL, NULL);
}
