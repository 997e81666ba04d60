/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/library.h"

#include <dlfcn.h>
#include <string.h>

/* The first of its names that is installed. */
static void *load(const struct library *library)
{
	void *handle = NULL;

	for (size_t i = 0; library->sonames[i] && !handle; i++)
		handle = dlopen(library->sonames[i], RTLD_NOW | RTLD_LOCAL);
	return handle;
}

static const struct library_symbol *missing(const struct library *library, void *handle)
{
	for (size_t i = 0; i < library->count; i++) {
		const struct library_symbol *symbol = &library->symbols[i];

		if (!symbol->optional && !dlsym(handle, symbol->name))
			return symbol;
	}
	return NULL;
}

static void fill(const struct library *library, void *handle, char *table)
{
	for (size_t i = 0; i < library->count; i++) {
		void *function = dlsym(handle, library->symbols[i].name);

		memcpy(table + library->symbols[i].offset, &function, sizeof(function));
	}
}

/* A library is never unloaded: it may have threads and exit handlers of its own. */
static int open_locked(struct library *library, void *table, struct husk_error *err)
{
	const struct library_symbol *lacks;
	void *handle;
	int rc;

	if (library->loaded)
		return 0;
	handle = load(library);
	if (!handle) {
		rc = error_set(err, HUSK_E_SYSTEM, library->sonames[0],
			       "is not installed, and %s need it", library->use);
		error_hint(err, "apt install %s", library->package);
		return rc;
	}
	lacks = missing(library, handle);
	if (lacks) {
		rc = error_set(err, HUSK_E_SYSTEM, library->sonames[0],
			       "is too old for %s: it lacks %s", library->use,
			       lacks->name);
		error_hint(err, "install a newer %s", library->package);
		(void)dlclose(handle);
		return rc;
	}
	fill(library, handle, table);
	library->loaded = true;
	return 0;
}

int library_open(struct library *library, void *table, struct husk_error *err)
{
	int rc;

	(void)pthread_mutex_lock(&library->lock);
	rc = open_locked(library, table, err);
	(void)pthread_mutex_unlock(&library->lock);
	return rc;
}
