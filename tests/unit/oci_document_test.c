/* SPDX-License-Identifier: Apache-2.0 */
/* Documents as JSON: what is refused before and by the parser, and within which bounds
 * hostile ones stay. */
#include "tests/unit/oci_json.h"
#include "tests/unit/own_memory.h"

#include <sys/resource.h>

#include "oci/bounds.h"
#include "oci/document.h"
#include "oci/manifest.h"

static int load(const char *data, size_t size, struct husk_error *err)
{
	const struct document document = {"doc", err};
	json_t *json = NULL;
	int rc = document_load(&document, data, size, &json);

	assert_int_equal(rc == 0, json != NULL);
	json_decref(json);
	return rc;
}

static void what_is_not_strict_json_is_refused(void **state)
{
	static const char *const rows[] = {
	    "",
	    " ",
	    "{",
	    "}",
	    "{}{}",
	    "{} x",
	    "{'a':1,}",
	    "{'a' 1}",
	    "{a:1}",
	    "{'a':01}",
	    "{'a':+1}",
	    "{'a':.5}",
	    "{'a':NaN}",
	    "{'a':Infinity}",
	    "{'a':0x10}",
	    "{'a':1e400}",
	    "{'a':-1e400}",
	    "{'a':99999999999999999999}",
	    "{'a':-99999999999999999999}",
	    "{'a':1,'a':1}",
	    "{'a':1,'\\u0061':1}",
	    "{'x':{'a':[1],'a':{}}}",
	    "{'a':'\\u0000'}",
	    "{'a\\u0000b':1}",
	    "{'a':'\\ud800'}",
	    "{'a':'\\udc00'}",
	    "{'a':'\\ud800\\u0041'}",
	    "{'a':'\\x41'}",
	    "{'a':'\n'}",
	    "{'a':'\xff'}",
	    "{'a':'\xc0\x80'}",
	    "{'a':'\xed\xa0\x80'}",
	    "{'a':'\xf4\x90\x80\x80'}",
	    "{'a':'open}",
	    "{'a':'open\\",
	    "{'a':'open\\'",
	    "\xef\xbb\xbf{}",
	    "{} // comment",
	    "<html><body>log in</body></html>",
	};
	(void)state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct husk_error err = {0};
		char *json = json_of(rows[i]);

		assert_refused(rows[i], load(json, strlen(json), &err), HUSK_E_IMAGE,
			       &err, "not JSON");
		free(json);
	}
}

static void bytes_behind_a_nul_count(void **state)
{
	struct husk_error err = {0};
	(void)state;

	assert_int_equal(load("{}\0", 3, &err), HUSK_E_IMAGE);
	assert_int_equal(load("{\"a\":\"\0\"}", 9, &err), HUSK_E_IMAGE);
	assert_int_equal(load("{}", 2, &err), 0);
	assert_int_equal(load("{} \n\t", 5, &err), 0);
}

static void only_an_object_is_a_document(void **state)
{
	static const char *const rows[] = {"[]", "[{}]"};
	(void)state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct husk_error err = {0};

		assert_refused(rows[i], load(rows[i], strlen(rows[i]), &err),
			       HUSK_E_IMAGE, &err, "not a JSON object");
	}
}

/* open, then repeated unit, count times, then close; heap. */
static char *repeat(const char *open, const char *unit, size_t count, const char *close,
		    size_t *ret_size)
{
	const size_t first = strlen(open), one = strlen(unit), last = strlen(close);
	char *text = malloc(first + one * count + last + 1);
	char *at = text;

	assert_non_null(text);
	memcpy(at, open, first);
	at += first;
	for (size_t i = 0; i < count; i++, at += one)
		memcpy(at, unit, one);
	memcpy(at, close, last + 1);
	*ret_size = first + one * count + last;
	return text;
}

static void nesting_ends_before_the_parser_begins(void **state)
{
	char text[2 * OCI_MAX_JSON_DEPTH + 16];
	(void)state;

	for (int levels = 2; levels <= OCI_MAX_JSON_DEPTH + 1; levels++) {
		struct husk_error err = {0};
		size_t used = (size_t)snprintf(text, sizeof(text), "{\"a\":");

		memset(text + used, '[', (size_t)levels - 1);
		used += (size_t)levels - 1;
		memset(text + used, ']', (size_t)levels - 1);
		used += (size_t)levels - 1;
		text[used++] = '}';
		if (levels <= OCI_MAX_JSON_DEPTH)
			assert_int_equal(load(text, used, &err), 0);
		else
			assert_refused("", load(text, used, &err), HUSK_E_IMAGE, &err,
				       "deeper than the 64 levels");
	}
}

static void brackets_in_strings_are_no_levels(void **state)
{
	struct husk_error err = {0};
	size_t size;
	char *text = repeat("{\"a\":\"", "[{\\\"\\\\", 1000, "\",\"b\":[1]}", &size);
	(void)state;

	assert_int_equal(load(text, size, &err), 0);
	free(text);
	text = repeat("{\"a\":\"", ",", OCI_MAX_JSON_VALUES + 9, "\"}", &size);
	assert_int_equal(load(text, size, &err), 0);
	free(text);
}

/* Each of these is of the size that is taken, and would cost the most. */
static void hostile_documents_cost_little(void **state)
{
	static const struct {
		const char *open, *unit, *close, *message;
	} rows[] = {
	    {"", "[", "", "deeper"},
	    {"", "{\"a\":", "", "deeper"},
	    {"{\"a\":", "[", "", "deeper"},
	    {"{\"a\":[1", ",{}", "]}", "131072 values"},
	    {"{\"a\":[1", ",[]", "]}", "131072 values"},
	    {"{\"a\":[1", ",1", "]}", "131072 values"},
	    {"{\"a\":[1", ",\"\"", "]}", "131072 values"},
	    {"", ",", "", "131072 values"},
	    {"{\"a\":\"", "\\x", "\"}", "not JSON"},
	    {"", "\"", "", "not JSON"},
	    {"", "]", "", "not JSON"},
	    {"", " ", "", "not JSON"},
	    {"{\"a\":1", "1", "}", "not JSON"},
	};
	struct rusage after;
	(void)state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct husk_error err = {0};
		size_t room =
		    OCI_MAX_DOCUMENT - strlen(rows[i].open) - strlen(rows[i].close);
		size_t size;
		char *text = repeat(rows[i].open, rows[i].unit,
				    room / strlen(rows[i].unit), rows[i].close, &size);

		assert_refused(rows[i].unit, load(text, size, &err), HUSK_E_IMAGE, &err,
			       rows[i].message);
		free(text);
	}
	assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
	if (memory_is_its_own())
		assert_true(after.ru_maxrss < 64 * 1024);
}

/* As many values as are taken, of the kind that takes the most memory. */
static void the_most_values_fit_into_little_memory(void **state)
{
	struct rusage after;
	struct husk_error err = {0};
	size_t size;
	char *text =
	    repeat("{\"a\":[1", ",{}", (OCI_MAX_JSON_VALUES - 4) / 2, "]}", &size);
	(void)state;

	assert_int_equal(load(text, size, &err), 0);
	assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
	free(text);
	if (memory_is_its_own())
		assert_true(after.ru_maxrss < 64 * 1024);
}

static void a_document_may_have_so_many_bytes(void **state)
{
	struct husk_error err = {0};
	size_t size;
	char *text = repeat("{", " ", OCI_MAX_DOCUMENT - 2, "}", &size);
	(void)state;

	assert_int_equal(size, OCI_MAX_DOCUMENT);
	assert_int_equal(load(text, size, &err), 0);
	free(text);
	text = repeat("{", " ", OCI_MAX_DOCUMENT - 1, "}", &size);
	assert_refused("", load(text, size, &err), HUSK_E_TOO_BIG, &err,
		       "at most 4194304");
	free(text);
}

/* -- what a document is -- */

#define CONFIG_D D(T_CONFIG, SHA_A, 2)
#define MANIFEST "'config':" CONFIG_D ",'layers':[]"
#define LIST	 "'manifests':[]"

static void kinds_are_told(void **state)
{
	static const struct {
		const char *text, *type;
		enum media_kind kind;
	} rows[] = {
	    {"{'mediaType':'" T_MANIFEST "'," MANIFEST "}", NULL, MEDIA_MANIFEST},
	    {"{'mediaType':'" T_INDEX "'," LIST "}", NULL, MEDIA_INDEX},
	    {"{'mediaType':'" T_DOCKER_MANIFEST "'," MANIFEST "}", NULL, MEDIA_MANIFEST},
	    {"{'mediaType':'" T_DOCKER_LIST "'," LIST "}", NULL, MEDIA_INDEX},
	    {"{'mediaType':'" T_MANIFEST "'," MANIFEST "}", T_MANIFEST, MEDIA_MANIFEST},
	    {"{'mediaType':'" T_MANIFEST "'," MANIFEST "}", T_MANIFEST " ; charset=utf-8",
	     MEDIA_MANIFEST},
	    {"{'mediaType':'" T_INDEX "'," LIST "}",
	     "Application/VND.oci.image.index.v1+JSON", MEDIA_INDEX},
	    /* its own type is missing: the given one, then the shape */
	    {"{" MANIFEST "}", T_MANIFEST, MEDIA_MANIFEST},
	    {"{" MANIFEST "}", T_DOCKER_MANIFEST, MEDIA_MANIFEST},
	    {"{" LIST "}", T_DOCKER_LIST, MEDIA_INDEX},
	    {"{'mediaType':''," LIST "}", T_INDEX, MEDIA_INDEX},
	    {"{'mediaType':null," LIST "}", T_INDEX, MEDIA_INDEX},
	    {"{" MANIFEST "}", NULL, MEDIA_MANIFEST},
	    {"{" MANIFEST "}", "", MEDIA_MANIFEST},
	    {"{" LIST "}", NULL, MEDIA_INDEX},
	    {"{'config':{}}", NULL, MEDIA_MANIFEST},
	    {"{'layers':[]}", NULL, MEDIA_MANIFEST},
	    {"{'manifests':[],'layers':null,'config':null}", NULL, MEDIA_INDEX},
	    {"{'schemaVersion':2," MANIFEST "}", NULL, MEDIA_MANIFEST},
	    {"{'schemaVersion':2," LIST ",'annotations':{},'subject':{}}", NULL,
	     MEDIA_INDEX},
	    /* a type that says nothing */
	    {"{" MANIFEST "}", "application/json", MEDIA_MANIFEST},
	    {"{" MANIFEST "}", "application/octet-stream", MEDIA_MANIFEST},
	    {"{" LIST "}", "text/plain; charset=utf-8", MEDIA_INDEX},
	    {"{" LIST "}", "binary/octet-stream", MEDIA_INDEX},
	    /* nothing but a type */
	    {"{}", T_INDEX, MEDIA_INDEX},
	    {"{'mediaType':'" T_MANIFEST "'}", NULL, MEDIA_MANIFEST},
	};
	(void)state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		enum media_kind kind = MEDIA_OTHER;
		struct husk_error err = {0};
		char *json = json_of(rows[i].text);

		if (document_kind(json, strlen(json), rows[i].type, "doc", &kind, &err) !=
		    0)
			fail_msg("%s as %s: %s", rows[i].text, rows[i].type, err.message);
		assert_int_equal(kind, rows[i].kind);
		free(json);
	}
}

#define V1 "application/vnd.docker.distribution.manifest.v1+json"
#define VS "application/vnd.docker.distribution.manifest.v1+prettyjws"

static void two_meanings_are_refused(void **state)
{
	static const struct {
		const char *text, *type, *message;
	} rows[] = {
	    {"{" MANIFEST "," LIST "}", NULL, "ambiguous"},
	    {"{'layers':[]," LIST "}", NULL, "ambiguous"},
	    {"{'config':" CONFIG_D "," LIST "}", NULL, "ambiguous"},
	    {"{'mediaType':'" T_INDEX "'," MANIFEST "," LIST "}", T_INDEX, "ambiguous"},
	    {"{'mediaType':'" T_MANIFEST "'," MANIFEST "," LIST "}", T_MANIFEST,
	     "ambiguous"},
	    {"{'mediaType':'" T_INDEX "'," MANIFEST "}", NULL, "contradicts"},
	    {"{'mediaType':'" T_MANIFEST "'," LIST "}", NULL, "contradicts"},
	    {"{" MANIFEST "}", T_INDEX, "contradicts"},
	    {"{" LIST "}", T_DOCKER_MANIFEST, "contradicts"},
	    {"{'mediaType':'" T_MANIFEST "'," MANIFEST "}", T_INDEX, "contradicts"},
	    {"{'mediaType':'" T_MANIFEST "'," MANIFEST "}", T_DOCKER_MANIFEST,
	     "contradicts"},
	    {"{'mediaType':'" T_DOCKER_LIST "'," LIST "}", T_INDEX, "contradicts"},
	    {"{'mediaType':'" T_CONFIG "'," MANIFEST "}", NULL, "not an image"},
	    {"{'mediaType':'" T_LAYER "'," MANIFEST "}", NULL, "not an image"},
	    {"{'mediaType':'text/html'," MANIFEST "}", NULL, "not an image"},
	    {"{" MANIFEST "}", "text/html", "\"text/html\""},
	    {"{" MANIFEST "}", T_CONFIG, "not an image"},
	    {"{" MANIFEST "}", "x/\x1b[2J", "\\x1b[2J"},
	    {"{'mediaType':1," MANIFEST "}", NULL, "mediaType is not a string"},
	    {"{'mediaType':[]," MANIFEST "}", NULL, "mediaType is not a string"},
	    {"{}", NULL, "neither"},
	    {"{'schemaVersion':2}", "application/json", "neither"},
	    {"{'errors':[]}", NULL, "neither"},
	    {"{'schemaVersion':3," MANIFEST "}", NULL, "schemaVersion"},
	    {"{'schemaVersion':0," MANIFEST "}", NULL, "schemaVersion"},
	    {"{'schemaVersion':2.0," MANIFEST "}", NULL, "schemaVersion"},
	    {"{'schemaVersion':'2'," MANIFEST "}", NULL, "schemaVersion"},
	    /* keys that readers which ignore case would take */
	    {"{'Layers':[]," LIST "}", NULL, "\"Layers\""},
	    {"{'MANIFESTS':[]," MANIFEST "}", NULL, "\"MANIFESTS\""},
	    {"{'mediatype':'" T_INDEX "'," MANIFEST "}", NULL, "\"mediatype\""},
	    {"{'SchemaVersion':1," MANIFEST "}", NULL, "\"SchemaVersion\""},
	    /* the first format */
	    {"{'schemaVersion':1,'fsLayers':[],'history':[]}", NULL, "schema 1"},
	    {"{'schemaVersion':1}", NULL, "schema 1"},
	    {"{'schemaVersion':1," MANIFEST "}", T_MANIFEST, "schema 1"},
	    {"{'fsLayers':[]," MANIFEST "}", NULL, "schema 1"},
	    {"{'signatures':[]," LIST "}", NULL, "schema 1"},
	    {"{" MANIFEST "}", V1, "schema 1"},
	    {"{" MANIFEST "}", VS, "schema 1"},
	    {"{'mediaType':'" VS "'}", NULL, "schema 1"},
	    {"[]", NULL, "not a JSON object"},
	    {"", NULL, "not JSON"},
	};
	(void)state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		enum media_kind kind = (enum media_kind)77;
		struct husk_error err = {0};
		char *json = json_of(rows[i].text);
		int rc =
		    document_kind(json, strlen(json), rows[i].type, "doc", &kind, &err);

		assert_refused(rows[i].text, rc, HUSK_E_IMAGE, &err, rows[i].message);
		assert_int_equal(kind, 77);
		free(json);
	}
}

int main(void)
{
	const struct CMUnitTest oci_document[] = {
	    cmocka_unit_test(what_is_not_strict_json_is_refused),
	    cmocka_unit_test(bytes_behind_a_nul_count),
	    cmocka_unit_test(only_an_object_is_a_document),
	    cmocka_unit_test(nesting_ends_before_the_parser_begins),
	    cmocka_unit_test(brackets_in_strings_are_no_levels),
	    cmocka_unit_test(hostile_documents_cost_little),
	    cmocka_unit_test(the_most_values_fit_into_little_memory),
	    cmocka_unit_test(a_document_may_have_so_many_bytes),
	    cmocka_unit_test(kinds_are_told),
	    cmocka_unit_test(two_meanings_are_refused),
	};

	return cmocka_run_group_tests(oci_document, NULL, NULL);
}
