/* SPDX-License-Identifier: Apache-2.0 */
/* System calls by number, for names that libseccomp may not know yet. From 424 on all
 * architectures share the numbers. Sorted by number; the comment is the kernel that
 * brought it. The build fails where libseccomp knows a number under another name. */
#include "seccomp/policy.h"

const struct seccomp_new_number seccomp_new_numbers[] = {
#if defined(__x86_64__)
    {"uretprobe", 335, true}, /* 6.11 */
    {"uprobe", 336, true},    /* 6.18 */
#endif
    {"set_mempolicy_home_node", 450, 0}, /* 5.17 */
    {"cachestat", 451, 0},		 /* 6.5 */
    {"fchmodat2", 452, 0},		 /* 6.6 */
    {"map_shadow_stack", 453, 0},	 /* 6.6 */
    {"futex_wake", 454, 0},		 /* 6.7 */
    {"futex_wait", 455, 0},		 /* 6.7 */
    {"futex_requeue", 456, 0},		 /* 6.7 */
    {"statmount", 457, 0},		 /* 6.8 */
    {"listmount", 458, 0},		 /* 6.8 */
    {"lsm_get_self_attr", 459, 0},	 /* 6.8 */
    {"lsm_set_self_attr", 460, 0},	 /* 6.8 */
    {"lsm_list_modules", 461, 0},	 /* 6.8 */
    {"mseal", 462, 0},			 /* 6.10 */
    {"setxattrat", 463, 0},		 /* 6.13 */
    {"getxattrat", 464, 0},		 /* 6.13 */
    {"listxattrat", 465, 0},		 /* 6.13 */
    {"removexattrat", 466, 0},		 /* 6.13 */
    {"open_tree_attr", 467, 0},		 /* 6.15 */
    {"file_getattr", 468, 0},		 /* 6.17 */
    {"file_setattr", 469, 0},		 /* 6.17 */
    {"listns", 470, 0},			 /* 6.19 */
};

const size_t seccomp_new_number_count =
    sizeof(seccomp_new_numbers) / sizeof(seccomp_new_numbers[0]);
