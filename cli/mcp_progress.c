/* SPDX-License-Identifier: Apache-2.0 */
/* How far calls are, for clients that asked (MCP, "Progress"): the seconds that have
 * passed, and the last line that the program has printed. */
#include "cli/mcp_call.h"

#include <string.h>

enum { TELL_MS = 1000 };

static double since_s(const struct timespec *from, const struct timespec *to)
{
	return (double)(to->tv_sec - from->tv_sec) +
	       (double)(to->tv_nsec - from->tv_nsec) / 1e9;
}

void mcp_call_saw(struct mcp_call *call, const char *data, size_t size)
{
	struct mcp *mcp = call->request.mcp;
	const char *end = memrchr(data, '\n', size), *begin;
	size_t length;

	if (!end)
		return;
	begin = memrchr(data, '\n', (size_t)(end - data));
	begin = begin ? begin + 1 : data;
	length = (size_t)(end - begin);
	if (length == 0)
		return;
	if (length >= sizeof(call->line))
		length = sizeof(call->line) - 1;
	pthread_mutex_lock(&mcp->lock);
	memcpy(call->line, begin, length);
	call->line[length] = '\0';
	pthread_mutex_unlock(&mcp->lock);
}

void mcp_call_tell(struct mcp_call *call, const struct timespec *now)
{
	json_t *params;

	if (!call->token || call->cancelled || since_s(&call->told, now) * 1000 < TELL_MS)
		return;
	call->told = *now;
	params = json_pack("{s:O,s:f}", "progressToken", call->token, "progress",
			   since_s(&call->began, now));
	if (call->line[0])
		(void)json_object_set_new(params, "message", mcp_path(call->line));
	mcp_notify(call->request.mcp, "notifications/progress", params);
}
