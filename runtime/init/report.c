/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/init/init.h"

#include <sys/socket.h>

const char *plan_text(const struct init *init, uint32_t offset)
{
	return (const char *)init->plan + offset;
}

long step_injected(const struct init *init, uint32_t step)
{
#ifdef HUSK_TEST_HOOKS
	if (init->plan->inject_step == step)
		return -(long)init->plan->inject_errno;
#endif
	(void)init;
	(void)step;
	return 0;
}

long step_begin(struct init *init, uint32_t step)
{
	init->plan->progress.step = step;
	return step_injected(init, step);
}

void init_exit(int status)
{
	raw1(SYS_exit_group, status);
	/* A filter of the user's may answer even that with an error. */
	__builtin_trap();
}

void report_send(struct init *init, const struct wire_report *report)
{
	(void)raw6(SYS_sendto, init->plan->channel_fd, RAW_PTR(report), sizeof(*report),
		   MSG_NOSIGNAL, 0, 0);
}

void step_fail(struct init *init, uint32_t step, long error, const char *subject)
{
	struct wire_report report;

	memset(&report, 0, sizeof(report));
	report.message = WIRE_FAILED;
	report.step = step;
	report.error = (int32_t)error;
	text_copy(report.subject, sizeof(report.subject), subject ? subject : "");
	report_send(init, &report);
	init_exit(1);
}
