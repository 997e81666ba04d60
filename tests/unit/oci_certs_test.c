/* SPDX-License-Identifier: Apache-2.0 */
/* Whom a registry's directory of certs.d and an extra CA make us trust. */
#include "tests/unit/oci_place.h"

#include "oci/certs.h"

static const char pem[] =
    "-----BEGIN CERTIFICATE-----\nextra\n-----END CERTIFICATE-----\n";

/* A file of the registry's directory. */
static void add(const struct place *place, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/reg.example:5000", place->dir);
	assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
	(void)snprintf(path, sizeof(path), "%s/reg.example:5000/%s", place->dir, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0644), 0);
}

static int load(struct place *place, const char *registry, struct certs *ret)
{
	char dirs[256];

	(void)snprintf(dirs, sizeof(dirs), "/nonexistent::%s", place->dir);
	place->err = (struct husk_error){0};
	*ret = CERTS_INIT;
	return certs_load(registry, NULL, dirs, ret, &place->err);
}

static void test_nothing_special(void **state)
{
	struct place *place = *state;
	struct certs certs;

	add(place, "ca.crt", pem);
	/* neither the host without its port nor another port */
	OK(load(place, "reg.example", &certs));
	assert_int_equal(certs.bundle, -1);
	certs_deinit(&certs);
	OK(load(place, "reg.example:500", &certs));
	assert_int_equal(certs.bundle, -1);
	assert_null(certs.certificate);
	certs_deinit(&certs);
	certs_deinit(&certs);
}

static void test_everything(void **state)
{
	struct place *place = *state;
	struct certs certs;
	char text[sizeof(pem)] = "";

	add(place, "ca.crt", pem);
	add(place, "README", "not a certificate");
	add(place, "b.cert", pem);
	add(place, "b.key", "key b");
	add(place, "a.cert", pem);
	add(place, "a.key", "key a");
	OK(load(place, "reg.example:5000", &certs));
	assert_true(certs.bundle >= 0);
	assert_non_null(strstr(certs.ca_file, "/proc/self/fd/"));
	assert_int_equal(pread(certs.bundle, text, sizeof(pem) - 1, 0), sizeof(pem) - 1);
	assert_string_equal(text, pem);
	/* of two pairs the first by name */
	assert_non_null(strstr(certs.certificate, "/reg.example:5000/a.cert"));
	assert_non_null(strstr(certs.key, "/reg.example:5000/a.key"));
	certs_deinit(&certs);
}

static void test_an_extra_ca(void **state)
{
	struct place *place = *state;
	struct certs certs = CERTS_INIT;
	char path[256];

	add(place, "ca.crt", pem);
	(void)snprintf(path, sizeof(path), "%s/reg.example:5000/ca.crt", place->dir);
	OK(certs_load("other.example", path, "", &certs, &place->err));
	assert_true(certs.bundle >= 0);
	certs_deinit(&certs);
	assert_int_equal(certs_load("x", "/nonexistent", "", &certs, &place->err),
			 HUSK_E_SYSTEM);
	assert_string_equal(place->err.where, "/nonexistent");
	assert_int_equal(certs_load("x", "/dev/null", "", &certs, &place->err),
			 HUSK_E_INVALID);
}

static void test_refused(void **state)
{
	struct place *place = *state;
	struct certs certs;
	char path[256], file[300];

	(void)snprintf(path, sizeof(path), "%s/reg.example:5000", place->dir);
	(void)snprintf(file, sizeof(file), "%s/ca.crt", path);
	add(place, "ca.crt", "junk");
	assert_int_equal(load(place, "reg.example:5000", &certs), HUSK_E_INVALID);
	assert_string_equal(place->err.where, file);
	add(place, "ca.crt", pem);
	assert_int_equal(chmod(file, 0666), 0);
	assert_int_equal(load(place, "reg.example:5000", &certs), HUSK_E_INVALID);
	assert_non_null(strstr(place->err.hint, "chmod o-w"));
	assert_int_equal(chmod(file, 0644), 0);
	assert_int_equal(chmod(path, 0777), 0);
	assert_int_equal(load(place, "reg.example:5000", &certs), HUSK_E_INVALID);
	assert_string_equal(place->err.where, path);
	assert_int_equal(chmod(path, 0755), 0);
	OK(load(place, "reg.example:5000", &certs));
	certs_deinit(&certs);
	/* half a pair */
	add(place, "me.cert", pem);
	assert_int_equal(load(place, "reg.example:5000", &certs), HUSK_E_SYSTEM);
	assert_non_null(strstr(place->err.where, "me.key"));
	add(place, "me.key", "key");
	OK(load(place, "reg.example:5000", &certs));
	certs_deinit(&certs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    PLACE_TEST(test_nothing_special),
	    PLACE_TEST(test_everything),
	    PLACE_TEST(test_an_extra_ca),
	    PLACE_TEST(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
