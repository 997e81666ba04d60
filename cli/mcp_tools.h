/* SPDX-License-Identifier: Apache-2.0 */
/* The tools of the MCP server: one row each, from which their schemas are made and their
 * arguments are checked. */
#ifndef CLI_MCP_TOOLS_H
#define CLI_MCP_TOOLS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct mcp_call;

enum mcp_argument_kind {
	MCP_ARGUMENT_END,
	MCP_ARGUMENT_TEXT,
	MCP_ARGUMENT_LANGUAGE,
	MCP_ARGUMENT_SECONDS,
	MCP_ARGUMENT_WORDS, /* a list of strings, at least one */
};

struct mcp_argument {
	const char *name;
	enum mcp_argument_kind kind;
	bool required;
	const char *help;
};

struct mcp_tool {
	const char *name, *title, *help;
	struct mcp_argument arguments[5]; /* ended by MCP_ARGUMENT_END */
	const char *output;		  /* JSON: the schema of its structured content */
	bool program; /* runs a program; else it reads or writes the workspace's files */
	bool read_only, destructive; /* hints for the client */
	/* Do it, and return the result of the call. */
	json_t *(*run)(struct mcp_call *call);
};

const struct mcp_tool *mcp_tool_find(const char *name);
/* The tools as tools/list shows them. */
json_t *mcp_tools_list(void);
/* Are these the tool's arguments? Else why, for the model to read. */
bool mcp_tool_check(const struct mcp_tool *tool, json_t *arguments, char *why,
		    size_t size);

/* The schemas of structured content: cli/mcp_schema.c */
extern const char mcp_schema_run[], mcp_schema_write[], mcp_schema_read[],
    mcp_schema_list[], mcp_schema_reset[];

/* What each tool does: cli/mcp_run.c, cli/mcp_files.c */
json_t *mcp_run_code(struct mcp_call *call);
json_t *mcp_run_command(struct mcp_call *call);
json_t *mcp_write_file(struct mcp_call *call);
json_t *mcp_read_file(struct mcp_call *call);
json_t *mcp_list_files(struct mcp_call *call);
json_t *mcp_reset(struct mcp_call *call);

#endif
