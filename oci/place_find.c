/* SPDX-License-Identifier: Apache-2.0 */
/* Finding what a reference stands for in the stores, and saying what comes near where
 * nothing does. */
#include "oci/place.h"

#include "base/printable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEAR_MAX = 3, SHOWN = 160 };

static bool serves(const struct store_image *image, const struct platform *wanted)
{
	struct platform platform;

	return !wanted || (platform_parse(image->platform, &platform, NULL) == 0 &&
			   platform_match(wanted, &platform) > 0);
}

static bool begins(const struct digest *digest, const char *prefix)
{
	char text[DIGEST_TEXT];

	if (digest->algorithm == DIGEST_NONE)
		return false;
	digest_text(digest, text);
	return strncmp(text, prefix, strlen(prefix)) == 0 ||
	       strncmp(digest->hex, prefix, strlen(prefix)) == 0;
}

static int ambiguous(const char *prefix, const struct store_image *a,
		     const struct store_image *b, struct husk_error *err)
{
	char one[SHOWN], two[SHOWN];

	(void)error_set(err, HUSK_E_IMAGE, "image",
			"%s is the beginning of more than one digest: %s and %s", prefix,
			printable(one, sizeof(one), a->name),
			printable(two, sizeof(two), b->name));
	error_hint(err, "give more digits, or a name");
	return HUSK_E_IMAGE;
}

/* 1 and the image, 0, or an error where the beginning fits images that differ. */
static int choose_digest(struct store_image *images, size_t count, const char *prefix,
			 const struct platform *platform, struct store_image *ret,
			 struct husk_error *err)
{
	struct store_image *found = NULL;

	for (size_t i = 0; i < count; i++) {
		if (!begins(&images[i].top, prefix) &&
		    !begins(&images[i].manifest, prefix))
			continue;
		if (!serves(&images[i], platform))
			continue;
		if (found && !digest_equal(&found->top, &images[i].top) &&
		    !digest_equal(&found->manifest, &images[i].manifest))
			return ambiguous(prefix, found, &images[i], err);
		if (!found)
			found = &images[i];
	}
	if (!found)
		return 0;
	*ret = *found;
	*found = (struct store_image){0};
	return 1;
}

static int find_digest(struct store *store, const char *prefix,
		       const struct platform *platform, struct store_image *ret,
		       struct husk_error *err)
{
	struct store_image *images = NULL;
	size_t count = 0;
	int r = store_list_images(store, &images, &count, err);

	if (r < 0)
		return r;
	r = choose_digest(images, count, prefix, platform, ret, err);
	store_images_free(images, count);
	return r;
}

static int find_name(struct store *store, const char *name,
		     const struct platform *platform, struct store_image *ret,
		     char ret_other[84], bool *ret_damaged, struct husk_error *err)
{
	struct husk_error why = {0};
	int r = store_find_image(store, name, ret, &why);

	if (r == HUSK_E_IMAGE && !store_has_name(store, name))
		return 0;
	if (r < 0) {
		*ret_damaged = r == HUSK_E_IMAGE;
		if (err)
			*err = why;
		return r;
	}
	if (serves(ret, platform))
		return 1;
	if (ret_other)
		(void)snprintf(ret_other, 84, "%s", ret->platform);
	store_image_deinit(ret);
	return 0;
}

int places_find(struct places *places, const struct target *target,
		const struct platform *platform, struct store_image *ret,
		struct store **ret_store, char ret_other[84], struct husk_error *err)
{
	bool damaged = false;
	int r = 0;

	places->damaged = NULL;
	if (ret_other)
		ret_other[0] = '\0';
	for (size_t i = 0; r == 0 && i < PLACES; i++) {
		struct store *store;

		r = places_store(places, i, &store, err);
		if (r < 0 || !store)
			continue;
		if (target->name)
			r = find_name(store, target->name, platform, ret, ret_other,
				      &damaged, err);
		if (damaged)
			places->damaged = store;
		if (r == 0 && target->digest[0] != '\0')
			r = find_digest(store, target->digest, platform, ret, err);
		if (r > 0)
			*ret_store = store;
	}
	return r;
}

/* -- what comes near -- */

/* The name without registry and directories: "python:3.12". */
static const char *last_part(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

/* How near: 2 another tag of it, 1 its name somewhere else or begun alike, 0 not. */
static int nearness(const char *name, const char *wanted)
{
	const char *a = last_part(name), *b = last_part(wanted);
	size_t size = strcspn(a, ":@"), other = strcspn(b, ":@"), alike = 0;

	if (size == other && strncmp(a, b, size) == 0)
		return strncmp(name, wanted, (size_t)(a - name)) == 0 &&
			       a - name == b - wanted
			   ? 2
			   : 1;
	while (alike < size && alike < other && a[alike] == b[alike])
		alike++;
	return alike >= 3 && alike + 2 >= size && alike + 2 >= other;
}

static size_t add_near(const struct store_image *images, size_t count, const char *wanted,
		       char *text, size_t capacity)
{
	size_t shown = 0;

	for (int want = 2; want > 0; want--) {
		for (size_t i = 0; i < count && shown < NEAR_MAX; i++) {
			char safe[SHOWN];
			size_t used = strlen(text);

			if (nearness(images[i].name, wanted) != want)
				continue;
			(void)snprintf(text + used, capacity - used, "%s%s",
				       used ? ", " : "",
				       printable(safe, sizeof(safe), images[i].name));
			shown++;
		}
	}
	return shown;
}

static void list_near(struct places *places, const char *wanted, char *text,
		      size_t capacity)
{
	size_t shown = 0;

	text[0] = '\0';
	for (size_t i = 0; shown == 0 && i < PLACES; i++) {
		struct store_image *images = NULL;
		struct store *store = NULL;
		size_t count = 0;

		if (places_store(places, i, &store, NULL) < 0 || !store ||
		    store_list_images(store, &images, &count, NULL) < 0)
			continue;
		shown = add_near(images, count, wanted, text, capacity);
		store_images_free(images, count);
	}
}

int places_missing(struct places *places, const char *text, const struct target *target,
		   const char *other, struct husk_error *err)
{
	char near[NEAR_MAX * SHOWN + 8], safe[SHOWN];
	const char *name = target->name ? target->name : text;

	(void)printable(safe, sizeof(safe), text);
	list_near(places, name, near, sizeof(near));
	if (other && other[0] != '\0')
		(void)error_set(err, HUSK_E_IMAGE, "image",
				"%s is in the store for %s only", safe, other);
	else
		(void)error_set(err, HUSK_E_IMAGE, "image",
				"no such image in the store: %s%s%s", safe,
				near[0] ? "; there is " : "", near);
	if (!target->is_name && target->file == IMPORT_ANY)
		error_hint(err, "husk image ls shows what is there");
	else
		error_hint(err,
			   "husk pull %s fetches it, and so does --pull missing; husk "
			   "image ls shows what is there",
			   safe);
	return HUSK_E_IMAGE;
}
