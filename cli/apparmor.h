/* SPDX-License-Identifier: Apache-2.0 */
/* husk doctor --install-apparmor: the profile that gives this husk the right to make user
 * namespaces where AppArmor keeps them from programs that it does not know. */
#ifndef CLI_APPARMOR_H
#define CLI_APPARMOR_H

#include <husk/error.h>

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum { CLI_APPARMOR_TEXT = 4096 + PATH_MAX };

/* The profile for a program at that path, as docs/apparmor/husk has it for the usual
 * ones. Returns its length. */
size_t cli_apparmor_profile(const char *program, char text[CLI_APPARMOR_TEXT]);

/* May a profile name that path? It must be one that only root can change, or the profile
 * would give its right to whatever somebody puts there. HUSK_E_INVALID. */
int cli_apparmor_check(const char *program, struct husk_error *err);

/* Where it goes. */
struct cli_apparmor {
	const char *program;	    /* the husk that it is for */
	const char *dir;	    /* of profiles */
	const char *const *parsers; /* where apparmor_parser may be, NULL-terminated */
	bool active;		    /* the kernel would take a profile */
};

/* What was done. */
struct cli_apparmor_done {
	bool wrote, replaced; /* neither: it was there as it should be */
	const char *parser;   /* that has loaded it; NULL: none is there, or not active */
};

/* Write the profile and load it. A file of that name is replaced only where husk has
 * written it, for some program; what cannot be loaded is taken back. HUSK_E_INVALID,
 * HUSK_E_SYSTEM. */
int cli_apparmor_put(const struct cli_apparmor *place, struct cli_apparmor_done *ret,
		     struct husk_error *err);

/* All of it, for this program on this host. Returns the exit code. */
int cli_apparmor_install(void);

#endif
