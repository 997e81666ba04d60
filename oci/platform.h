/* SPDX-License-Identifier: Apache-2.0 */
/* Which of an index's manifests is for this machine (OCI image-spec, image-index.md,
 * "platform"; variants as the containerd platforms package orders them). */
#ifndef OCI_PLATFORM_H
#define OCI_PLATFORM_H

#include <stdbool.h>

#include "base/error.h"

struct platform {
	char os[32];	       /* "linux"; "" where not told */
	char architecture[32]; /* Go's names: "amd64", "arm64", "arm", "386", ... */
	char variant[16];      /* "v8", "v7", ... or "" */
};

/* The machine we run on. */
void platform_host(struct platform *ret);
/* "os/arch[/variant]", aliases normalised (x86_64, aarch64, armhf, ...). HUSK_E_INVALID.
 */
int platform_parse(const char *text, struct platform *ret, struct husk_error *err);
void platform_normalise(struct platform *platform);
void platform_text(const struct platform *platform, char text[84]);
/* How well an offered platform serves what is wanted: 0 not at all, else the higher the
 * better (the exact variant, then lower ones that it can run). */
int platform_match(const struct platform *wanted, const struct platform *offered);

#endif
