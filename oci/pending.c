/* SPDX-License-Identifier: Apache-2.0 */
/* Weak stand-ins for what is being written elsewhere; each goes when its part lands, and
 * the file with the last. */
#include "oci/blob.h"
#include "oci/bounds.h"
#include "oci/config.h"
#include "oci/digest.h"
#include "oci/fetch.h"
#include "oci/import.h"
#include "oci/manifest.h"
#include "oci/oci.h"
#include "oci/platform.h"
#include "oci/reference.h"
#include "oci/store.h"
#include "oci/unpack.h"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <errno.h>
#include <sys/stat.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* Enough for tests: recursive, a descriptor for each level. */
