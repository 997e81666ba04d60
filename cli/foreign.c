/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/foreign.h"

#include <stddef.h>
#include <string.h>

struct foreign {
	const char *word;
	const char *hint;
};

static const char one_run[] = "a box is one run of one program: husk run -- PROG; what "
			      "outlives it is its --workspace DIR";
static const char mount[] = "mounts are written -v SRC:DST[:ro|rw]";
static const char no_service[] =
    "husk keeps no background services: husk-ps(1) shows how systemd keeps a box running";
static const char no_privilege[] =
    "no box gets privileges or devices of the host: `husk help run` lists what can be "
    "given";
static const char no_ports[] =
    "a box has no ports of its own: --network host gives it the host's network";
static const char credentials[] =
    "husk takes the credentials that docker and podman have stored, or those of "
    "--authfile FILE";
static const char seccomp[] = "filters are given with --seccomp default|strict|FILE";

/* Sorted by word. */
static const struct foreign commands[] = {
    {"attach", one_run},
    {"build", "husk runs images and builds none: `husk image import` takes what others "
	      "have built"},
    {"commit", one_run},
    {"create", one_run},
    {"exec", one_run},
    {"images", "husk image ls"},
    {"import", "husk image import PATH"},
    {"info", "husk doctor"},
    {"inspect", "husk image inspect REF"},
    {"kill", "husk stop NAME"},
    {"list", "husk ps lists boxes, husk image ls images"},
    {"load", "husk image import FILE"},
    {"login", credentials},
    {"logs", one_run},
    {"ls", "husk ps lists boxes, husk image ls images; husk run -- ls runs ls in a box"},
    {"prune", "husk image prune removes what no image needs, husk gc what killed callers "
	      "left"},
    {"push", "husk pushes no images: husk image export REF FILE, and skopeo copy"},
    {"restart", one_run},
    {"rm", "a box is gone when its program has ended; husk image rm REF removes an "
	   "image"},
    {"rmi", "husk image rm REF"},
    {"save", "husk image export REF FILE"},
    {"start", one_run},
};

static const struct foreign options[] = {
    {"--bind", mount},
    {"--cap-add", no_privilege},
    {"--cap-drop", "a box has no capabilities to begin with"},
    {"--chdir", "the working directory is given with --workdir DIR"},
    {"--cwd", "the working directory is given with --workdir DIR"},
    {"--detach", no_service},
    {"--device", no_privilege},
    {"--entrypoint", "a program on the command line replaces that of the image"},
    {"--mount", mount},
    {"--net", "the network is given with --network none|host"},
    {"--privileged", no_privilege},
    {"--publish", no_ports},
    {"--read-only", "the root is read-only unless --writable-root is given"},
    {"--rm", "a box is always gone when its program has ended: leave it out"},
    {"--ro-bind", mount},
    {"--security-opt", seccomp},
    {"--setenv", "variables are given with --env NAME=VALUE"},
    {"--share-net", "the host's network is given with --network host"},
    {"--tmpfs", "/tmp and /dev/shm are there; --tmp-size SIZE bounds /tmp"},
    {"--unshare-all", "a box always has namespaces of its own: leave it out"},
    {"-d", no_service},
    {"-m", "memory is given with --memory SIZE"},
    {"-p", no_ports},
    {"-u", "the user is given with --user UID[:GID]"},
};

static const char *find(const struct foreign *rows, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(rows[i].word, word) == 0)
			return rows[i].hint;
	}
	return NULL;
}

const char *cli_foreign_command(const char *name)
{
	return find(commands, sizeof(commands) / sizeof(commands[0]), name);
}

const char *cli_foreign_option(const char *typed)
{
	return find(options, sizeof(options) / sizeof(options[0]), typed);
}
