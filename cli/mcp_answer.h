/* SPDX-License-Identifier: Apache-2.0 */
/* A result of a box as the result of a tool call: a text for the model, pictures that the
 * step has made, and the fields as structured content. */
#ifndef CLI_MCP_ANSWER_H
#define CLI_MCP_ANSWER_H

#include "cli/mcp_call.h"

#include <husk/result.h>

json_t *mcp_answer(struct mcp_call *call, const husk_result *result);

#endif
