/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/platform.h"

#include "base/printable.h"

#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* -- the machine -- */

#if defined(__x86_64__)

enum { WIDE_AVX = 0x6, WIDE_AVX512 = 0xe6 };

/* Do programs have these registers, which the kernel must save for them (XCR0)? */
static bool kernel_saves(unsigned features, unsigned registers)
{
	unsigned low, high;

	if (!(features & bit_OSXSAVE))
		return false;
	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (low & registers) == registers;
}

/* Which of the psABI's levels the processor has: "" for the first. Not by the compiler's
 * run time: that looks at the processor in all programs that are linked with it, before
 * main, and in a virtual machine cpuid costs microseconds. */
static const char *host_variant(void)
{
	const unsigned v2 =
	    bit_CMPXCHG16B | bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT;
	const unsigned v3 = bit_FMA | bit_MOVBE | bit_F16C | bit_AVX;
	const unsigned v3_more = bit_AVX2 | bit_BMI | bit_BMI2;
	const unsigned v4_more =
	    bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL;
	unsigned eax, ebx = 0, ecx = 0, edx, more = 0, seven = 0;

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) ||
	    !__get_cpuid(0x80000001, &eax, &ebx, &more, &edx))
		return "";
	if ((ecx & v2) != v2 || !(more & bit_LAHF_LM))
		return "";
	if (!__get_cpuid_count(7, 0, &eax, &seven, &ebx, &edx) || (ecx & v3) != v3 ||
	    !(more & bit_ABM) || (seven & v3_more) != v3_more ||
	    !kernel_saves(ecx, WIDE_AVX))
		return "v2";
	if ((seven & v4_more) != v4_more || !kernel_saves(ecx, WIDE_AVX512))
		return "v3";
	return "v4";
}

#define HOST_ARCHITECTURE "amd64"

#elif defined(__aarch64__)

/* Every arm64 is at least v8, which is what "" stands for. */
static const char *host_variant(void)
{
	return "";
}

#define HOST_ARCHITECTURE "arm64"

#endif

void platform_host(struct platform *ret)
{
	*ret = (struct platform){.os = "linux", .architecture = HOST_ARCHITECTURE};
	(void)snprintf(ret->variant, sizeof(ret->variant), "%s", host_variant());
}

/* -- names -- */

/* Other names in use. A NULL variant leaves what was written. */
static const struct {
	const char *alias, *architecture, *variant;
} aliases[] = {
    {"x86_64", "amd64", NULL},	{"x86-64", "amd64", NULL}, {"i386", "386", ""},
    {"i486", "386", ""},	{"i586", "386", ""},	   {"i686", "386", ""},
    {"aarch64", "arm64", NULL}, {"armhf", "arm", "v7"},	   {"armel", "arm", "v6"},
};

/* The variant that stands for none, or for which none stands. */
static const struct {
	const char *architecture, *variant, *normal;
} variants[] = {
    {"amd64", "v1", ""},     {"amd64", "1", ""},    {"amd64", "2", "v2"},
    {"amd64", "3", "v3"},    {"amd64", "4", "v4"},  {"arm64", "v8", ""},
    {"arm64", "8", ""},	     {"arm64", "v8.0", ""}, {"arm64", "9", "v9"},
    {"arm64", "v9.0", "v9"}, {"arm", "", "v7"},	    {"arm", "5", "v5"},
    {"arm", "6", "v6"},	     {"arm", "7", "v7"},    {"arm", "8", "v8"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void lower(char *text)
{
	for (; *text; text++) {
		if (*text >= 'A' && *text <= 'Z')
			*text = (char)(*text - 'A' + 'a');
	}
}

void platform_normalise(struct platform *platform)
{
	lower(platform->os);
	lower(platform->architecture);
	lower(platform->variant);
	for (size_t i = 0; i < COUNT(aliases); i++) {
		if (strcmp(platform->architecture, aliases[i].alias) != 0)
			continue;
		(void)snprintf(platform->architecture, sizeof(platform->architecture),
			       "%s", aliases[i].architecture);
		if (aliases[i].variant)
			(void)snprintf(platform->variant, sizeof(platform->variant), "%s",
				       aliases[i].variant);
		break;
	}
	for (size_t i = 0; i < COUNT(variants); i++) {
		if (strcmp(platform->architecture, variants[i].architecture) != 0 ||
		    strcmp(platform->variant, variants[i].variant) != 0)
			continue;
		(void)snprintf(platform->variant, sizeof(platform->variant), "%s",
			       variants[i].normal);
		break;
	}
}

/* One part of "os/arch/variant"; NULL where it is none. Returns what follows it. */
static const char *take_part(const char *text, char *out, size_t capacity)
{
	size_t size = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_.-");

	if (size == 0 || size >= capacity || (text[size] && text[size] != '/'))
		return NULL;
	memcpy(out, text, size);
	out[size] = '\0';
	return text + size;
}

int platform_parse(const char *text, struct platform *ret, struct husk_error *err)
{
	struct platform platform = {0};
	char shown[96];
	const char *at = take_part(text, platform.os, sizeof(platform.os));
	int rc;

	if (at && *at == '/')
		at = take_part(at + 1, platform.architecture,
			       sizeof(platform.architecture));
	if (at && *at == '/')
		at = take_part(at + 1, platform.variant, sizeof(platform.variant));
	if (!at || *at || !*platform.architecture) {
		rc = error_set(err, HUSK_E_INVALID, "platform",
			       "\"%s\" is not os/arch or os/arch/variant",
			       printable(shown, sizeof(shown), text));
		error_hint(err, "write for example linux/amd64, linux/arm64 or "
				"linux/arm/v7");
		return rc;
	}
	platform_normalise(&platform);
	*ret = platform;
	return 0;
}

void platform_text(const struct platform *platform, char text[84])
{
	(void)snprintf(text, 84, "%s/%s%s%s", platform->os, platform->architecture,
		       *platform->variant ? "/" : "", platform->variant);
}

/* -- matching -- */

enum { EXACT = 1000 };

/* "vN" or "vN.M" as 100 N + M; -1 for anything else. */
static int version(const char *variant)
{
	int major, minor = 0;

	if (variant[0] != 'v' || variant[1] < '1' || variant[1] > '9')
		return -1;
	major = variant[1] - '0';
	if (variant[2] == '.' && variant[3] >= '0' && variant[3] <= '9' && !variant[4])
		minor = variant[3] - '0';
	else if (variant[2])
		return -1;
	return 100 * major + minor;
}

/* How far below the wanted variant the offered one is; -1 where it is not below, or
 * where nothing says that one runs the other. */
static int steps_down(const struct platform *wanted, const char *offered)
{
	const bool arm64 = strcmp(wanted->architecture, "arm64") == 0;
	const char *none = arm64 ? "v8" : "v1";
	int have, need;

	if (!arm64 && strcmp(wanted->architecture, "amd64") != 0 &&
	    strcmp(wanted->architecture, "arm") != 0)
		/* Nothing told means that nothing special is needed. */
		return *offered ? -1 : 1;
	have = version(*wanted->variant ? wanted->variant : none);
	need = version(*offered ? offered : none);
	if (have < 0 || need < 0)
		return -1;
	/* v9.N has what v8.(N+5) has. */
	if (arm64 && have >= 900 && need < 900)
		return have - 900 + 805 >= need ? 100 + (have - 900 + 805) - need : -1;
	return have >= need ? have - need : -1;
}

int platform_match(const struct platform *wanted, const struct platform *offered)
{
	int down;

	if (strcmp(wanted->os, offered->os) != 0 ||
	    strcmp(wanted->architecture, offered->architecture) != 0 || !*offered->os ||
	    !*offered->architecture)
		return 0;
	if (strcmp(wanted->variant, offered->variant) == 0)
		return EXACT;
	down = steps_down(wanted, offered->variant);
	return down >= 0 && down < EXACT ? EXACT - down : 0;
}
