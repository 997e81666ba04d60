/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls without the C library: for the code between clone3 and exec, which shares
 * the caller's memory and may touch nothing of it (no errno, no locks), and for the init
 * program, which has no C library. Every call returns what the kernel returns: a value,
 * or -errno.
 *
 * Register use: x86-64 psABI appendix A.2.1; for arm64, arch/arm64/kernel/entry.S.
 */
#ifndef BASE_RAWSYS_H
#define BASE_RAWSYS_H

#include <sys/syscall.h>

#if defined(__x86_64__)

static inline long raw6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

#elif defined(__aarch64__)

static inline long raw6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

#else
#error "husk knows x86-64 and arm64"
#endif

#define RAW_PTR(p)	     ((long)(p))
#define raw0(nr)	     raw6(nr, 0, 0, 0, 0, 0, 0)
#define raw1(nr, a)	     raw6(nr, (long)(a), 0, 0, 0, 0, 0)
#define raw2(nr, a, b)	     raw6(nr, (long)(a), (long)(b), 0, 0, 0, 0)
#define raw3(nr, a, b, c)    raw6(nr, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define raw4(nr, a, b, c, d) raw6(nr, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define raw5(nr, a, b, c, d, e) \
	raw6(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)

/* clone3(2) where the child runs fn(a, b) on the stack that args names, and never
 * returns. */
typedef void (*raw_child_fn)(void *a, void *b);

#if defined(__x86_64__)

static inline long raw_clone3(void *args, unsigned long size, raw_child_fn fn, void *a,
			      void *b)
{
	register void *child_fn __asm__("r12") = (void *)fn;
	register void *child_a __asm__("r13") = a;
	register void *child_b __asm__("r14") = b;
	long ret;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "mov %%r13, %%rdi\n\t"
			 "mov %%r14, %%rsi\n\t"
			 "and $-16, %%rsp\n\t"
			 "call *%%r12\n\t"
			 "hlt\n"
			 "1:"
			 : "=a"(ret)
			 : "a"(SYS_clone3), "D"(args), "S"(size), "r"(child_fn),
			   "r"(child_a), "r"(child_b)
			 : "rcx", "r11", "memory");
	return ret;
}

#elif defined(__aarch64__)

static inline long raw_clone3(void *args, unsigned long size, raw_child_fn fn, void *a,
			      void *b)
{
	register long x8 __asm__("x8") = SYS_clone3;
	register long x0 __asm__("x0") = (long)args;
	register long x1 __asm__("x1") = (long)size;
	register void *x20 __asm__("x20") = (void *)fn;
	register void *x21 __asm__("x21") = a;
	register void *x22 __asm__("x22") = b;

	__asm__ volatile("svc 0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x29, #0\n\t"
			 "mov x30, #0\n\t"
			 "mov x0, x21\n\t"
			 "mov x1, x22\n\t"
			 "blr x20\n\t"
			 "brk #1\n"
			 "1:"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x20), "r"(x21), "r"(x22)
			 : "memory");
	return x0;
}

#endif

#endif
