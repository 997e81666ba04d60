/* SPDX-License-Identifier: Apache-2.0 */
/** husk/export.h: marks the functions that the library exports. */
#ifndef HUSK_EXPORT_H
#define HUSK_EXPORT_H

#define HUSK_API     __attribute__((visibility("default")))
#define HUSK_CHECKED __attribute__((warn_unused_result))

#endif
