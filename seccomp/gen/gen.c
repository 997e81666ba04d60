/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the built-in filters and the table of system calls as C. A row that names
 * nothing fails the build: a misspelt name must not leave a call open. */
#include "seccomp/gen/gen.h"

#include "seccomp/compose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct seccomp_policy *const policies[] = {
    &seccomp_policy_default,
    &seccomp_policy_strict,
};

enum { POLICY_COUNT = sizeof(policies) / sizeof(policies[0]) };

static bool check_names(const struct seccomp_policy *policy)
{
	for (size_t t = 0; t < SECCOMP_TABLES; t++) {
		const struct seccomp_table *table = policy->tables[t];

		for (size_t i = 0; table && i < table->count; i++) {
			const char *name = table->rows[i].name;

			if (gen_is_syscall(name))
				continue;
			(void)fprintf(stderr, "policy %s: no system call is called %s\n",
				      policy->name, name);
			return false;
		}
	}
	return true;
}

void gen_print_program(const char *name, const struct seccomp_program *program)
{
	(void)printf("static const struct sock_filter %s[] = {\n", name);
	for (uint16_t i = 0; i < program->count; i++) {
		const struct sock_filter *insn = &program->insns[i];

		(void)printf("\t{0x%02x, %u, %u, 0x%08x},\n", insn->code, insn->jt,
			     insn->jf, insn->k);
	}
	(void)printf("};\n\n");
}

static bool print_policy(const struct seccomp_policy *policy, uint16_t *ret_count)
{
	CLEANUP_SECCOMP_PROGRAM struct seccomp_program program = {0};
	char name[64];

	if (!check_names(policy))
		return false;
	if (seccomp_compose_policy(policy, gen_number, &program) < 0) {
		(void)fprintf(stderr, "policy %s: cannot be compiled\n", policy->name);
		return false;
	}
	(void)snprintf(name, sizeof(name), "insns_%s", policy->name);
	gen_print_program(name, &program);
	*ret_count = program.count;
	return true;
}

static void print_numbers(void)
{
	(void)printf("const struct seccomp_number seccomp_numbers[] = {\n");
	for (size_t i = 0; i < gen_number_count; i++) {
		(void)printf("\t{\"%s\", {", gen_numbers[i].name);
		for (unsigned abi = 0; abi < SECCOMP_ABI_COUNT; abi++)
			(void)printf("%s0x%x", abi ? ", " : "", gen_numbers[i].nr[abi]);
		(void)printf("}},\n");
	}
	(void)printf("};\n\nconst size_t seccomp_number_count = %zu;\n",
		     gen_number_count);
}

static bool print_all(void)
{
	uint16_t counts[POLICY_COUNT];

	(void)printf(
	    "/* SPDX-License-Identifier: Apache-2.0 */\n"
	    "/* Written by seccomp/gen; change the tables in seccomp/ instead. */\n"
	    "#include \"seccomp/generated.h\"\n\n");
	for (size_t i = 0; i < POLICY_COUNT; i++) {
		if (!print_policy(policies[i], &counts[i]))
			return false;
	}
	(void)printf("const struct seccomp_generated seccomp_generated[] = {\n");
	for (size_t i = 0; i < POLICY_COUNT; i++)
		(void)printf("\t{\"%s\", insns_%s, %u},\n", policies[i]->name,
			     policies[i]->name, counts[i]);
	(void)printf("};\n\nconst size_t seccomp_generated_count = %d;\n\n",
		     POLICY_COUNT);
	print_numbers();
	return true;
}

/* Without an argument everything for the library; with "init" that program's filter. */
int main(int argc, char **argv)
{
	bool good = gen_collect_numbers();

	if (good && argc == 2 && strcmp(argv[1], "init") == 0)
		good = gen_print_init();
	else if (good)
		good = print_all();
	return good && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
