/* SPDX-License-Identifier: Apache-2.0 */
/* What an image or a registry may make us take: every bound on hostile input in one
 * place. A bound that is passed is a clear error that names it. */
#ifndef OCI_BOUNDS_H
#define OCI_BOUNDS_H

#define OCI_KIB ((uint64_t)1 << 10)
#define OCI_MIB ((uint64_t)1 << 20)
#define OCI_GIB ((uint64_t)1 << 30)

/* Documents. */
#define OCI_MAX_DOCUMENT    (4 * OCI_MIB)  /* a manifest, an index, a config */
#define OCI_MAX_TOKEN_BODY  (1 * OCI_MIB)  /* what a token server answers */
#define OCI_MAX_ERROR_BODY  (64 * OCI_KIB) /* the body of an error */
#define OCI_MAX_JSON_DEPTH  64
#define OCI_MAX_JSON_VALUES 131072 /* a short value takes 250 bytes once it is read */
#define OCI_MAX_LAYERS	    512
#define OCI_MAX_MANIFESTS   4096 /* descriptors in one index */
#define OCI_MAX_INDEX_DEPTH 3	 /* an index inside an index inside an index */

/* One layer. */
#define OCI_MAX_BLOB		(64 * OCI_GIB)	/* compressed bytes */
#define OCI_MAX_LAYER_BYTES	(128 * OCI_GIB) /* tar bytes that come out */
#define OCI_MAX_RATIO		200 /* out to in; deflate itself goes up to 1,032 */
#define OCI_RATIO_FREE		(1 * OCI_GIB) /* so much may come out whatever went in */
#define OCI_MAX_ENTRIES		4000000
#define OCI_MAX_DIRECTORIES	1000000		/* those that names imply included */
#define OCI_MAX_NOTES		(256 * OCI_MIB) /* what whiteouts and links may fill */
#define OCI_MAX_PATH		8192		/* bytes of one entry's name */
#define OCI_MAX_COMPONENT	255  /* NAME_MAX of the file systems we write to */
#define OCI_MAX_DEPTH		1024 /* components of one name */
#define OCI_MAX_ZSTD_WINDOW_LOG 25   /* 32 MiB; up to level 19 zstd makes 8 */
#define OCI_MAX_WINDOWS		(32 * OCI_MIB) /* of all layers that are unpacked at a time */

/* The registry. */
#define OCI_MAX_HEADER_BYTES   (256 * OCI_KIB) /* of one answer */
#define OCI_MAX_REDIRECTS      10
#define OCI_MAX_AUTH_ROUNDS    2
#define OCI_MAX_TRIES	       5  /* of one request */
#define OCI_MAX_RETRY_AFTER_S  60 /* a longer wait is an error */
#define OCI_CONNECT_TIMEOUT_S  15
#define OCI_STALL_TIMEOUT_S    30  /* with less than OCI_MIN_SPEED */
#define OCI_MIN_SPEED	       16  /* bytes a second */
#define OCI_DOCUMENT_TIMEOUT_S 120 /* for all of a document or a token */
#define OCI_MAX_TOKEN	       (64 * OCI_KIB)
#define OCI_MAX_TOKEN_LIFE_S   86400 /* what expires_in is cut to */

/* Credentials. */
#define OCI_MAX_AUTH_FILE     (4 * OCI_MIB)
#define OCI_MAX_HELPER_OUTPUT (64 * OCI_KIB)
#define OCI_HELPER_TIMEOUT_S  30
#define OCI_MAX_CERTS	      (16 * OCI_MIB) /* PEM of all CAs together */

#endif
