/* SPDX-License-Identifier: Apache-2.0 */
/* The init program, carried inside the library. */
	.section .rodata
	.balign 16
	.globl husk_init_image
	.hidden husk_init_image
husk_init_image:
	.incbin INIT_PATH
	.globl husk_init_image_end
	.hidden husk_init_image_end
husk_init_image_end:
	.section .note.GNU-stack, "", %progbits
