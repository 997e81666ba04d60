/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/mcp_tools.h"

#include "cli/language.h"

#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define TIMEOUT_ARGUMENT                                                  \
	{                                                                 \
		"timeout_s", MCP_ARGUMENT_SECONDS, false,                 \
		    "Deadline in seconds, for less than the server's own" \
	}
#define STDIN_ARGUMENT                                             \
	{                                                          \
		"stdin", MCP_ARGUMENT_TEXT, false,                 \
		    "What the program reads on its standard input" \
	}

static const struct mcp_tool tools[] = {
    {
	.name = "list_files",
	.title = "List files",
	.help = "List the files of the workspace, or of one of its directories, with "
		"their sizes.",
	.arguments = {{"subdir", MCP_ARGUMENT_TEXT, false,
		       "A directory, relative to the workspace"}},
	.output = mcp_schema_list,
	.read_only = true,
	.run = mcp_list_files,
    },
    {
	.name = "read_file",
	.title = "Read a file",
	.help = "Read a file of the workspace. Text comes as text, pictures as pictures, "
		"other bytes as base64.",
	.arguments = {{"path", MCP_ARGUMENT_TEXT, true, "Relative to the workspace"}},
	.output = mcp_schema_read,
	.read_only = true,
	.run = mcp_read_file,
    },
    {
	.name = "reset",
	.title = "Start afresh",
	.help =
	    "Throw the workspace with all its files away and start with an empty one.",
	.output = mcp_schema_reset,
	.destructive = true,
	.run = mcp_reset,
    },
    {
	.name = "run_code",
	.title = "Run code",
	.help =
	    "Run a piece of code in a fresh sandbox. Only the files of the workspace "
	    "(the working directory) stay from call to call: variables, processes and "
	    "files elsewhere do not. Print what you want to see.",
	.arguments = {{"code", MCP_ARGUMENT_TEXT, true, "The source code"},
		      {"language", MCP_ARGUMENT_LANGUAGE, false,
		       "Its language; python without it"},
		      TIMEOUT_ARGUMENT,
		      STDIN_ARGUMENT},
	.output = mcp_schema_run,
	.program = true,
	.destructive = true,
	.run = mcp_run_code,
    },
    {
	.name = "run_command",
	.title = "Run a command",
	.help = "Run a program with its arguments in a fresh sandbox, without a shell in "
		"between. Only the files of the workspace (the working directory) stay "
		"from call to call.",
	.arguments = {{"command", MCP_ARGUMENT_WORDS, true,
		       "The program and its arguments, such as [\"ls\", \"-l\"]"},
		      TIMEOUT_ARGUMENT,
		      STDIN_ARGUMENT},
	.output = mcp_schema_run,
	.program = true,
	.destructive = true,
	.run = mcp_run_command,
    },
    {
	.name = "write_file",
	.title = "Write a file",
	.help = "Write a file of the workspace; its directories are made, an old file is "
		"replaced. Give either content or content_base64.",
	.arguments = {{"path", MCP_ARGUMENT_TEXT, true, "Relative to the workspace"},
		      {"content", MCP_ARGUMENT_TEXT, false, "The content, as text"},
		      {"content_base64", MCP_ARGUMENT_TEXT, false,
		       "The content, any bytes, as base64"}},
	.output = mcp_schema_write,
	.destructive = true,
	.run = mcp_write_file,
    },
};

const struct mcp_tool *mcp_tool_find(const char *name)
{
	for (size_t i = 0; i < COUNT(tools); i++) {
		if (strcmp(tools[i].name, name) == 0)
			return &tools[i];
	}
	return NULL;
}

static json_t *argument_schema(const struct mcp_argument *argument)
{
	json_t *schema = json_pack("{s:s}", "description", argument->help);

	switch (argument->kind) {
	case MCP_ARGUMENT_LANGUAGE:
		(void)json_object_set_new(schema, "enum",
					  json_pack("[s,s,s]", "python", "bash", "node"));
		/* fallthrough */
	case MCP_ARGUMENT_TEXT:
		(void)json_object_set_new(schema, "type", json_string("string"));
		break;
	case MCP_ARGUMENT_SECONDS:
		(void)json_object_set_new(schema, "type", json_string("number"));
		(void)json_object_set_new(schema, "exclusiveMinimum", json_integer(0));
		break;
	case MCP_ARGUMENT_WORDS:
		(void)json_object_set_new(schema, "type", json_string("array"));
		(void)json_object_set_new(schema, "items",
					  json_pack("{s:s}", "type", "string"));
		(void)json_object_set_new(schema, "minItems", json_integer(1));
		break;
	case MCP_ARGUMENT_END:
		break;
	}
	return schema;
}

static json_t *input_schema(const struct mcp_tool *tool)
{
	json_t *properties = json_object(), *required = json_array();

	for (size_t i = 0; tool->arguments[i].kind != MCP_ARGUMENT_END; i++) {
		const struct mcp_argument *argument = &tool->arguments[i];

		(void)json_object_set_new(properties, argument->name,
					  argument_schema(argument));
		if (argument->required)
			(void)json_array_append_new(required,
						    json_string(argument->name));
	}
	return json_pack("{s:s,s:o,s:o,s:b}", "type", "object", "properties", properties,
			 "required", required, "additionalProperties", 0);
}

json_t *mcp_tools_list(void)
{
	json_t *list = json_array();

	for (size_t i = 0; i < COUNT(tools); i++) {
		const struct mcp_tool *tool = &tools[i];
		json_t *row = json_pack(
		    "{s:s,s:s,s:s,s:o,s:o,s:{s:s,s:b,s:b,s:b,s:b}}", "name", tool->name,
		    "title", tool->title, "description", tool->help, "inputSchema",
		    input_schema(tool), "outputSchema", json_loads(tool->output, 0, NULL),
		    "annotations", "title", tool->title, "readOnlyHint", tool->read_only,
		    "destructiveHint", tool->destructive, "idempotentHint",
		    !tool->program, "openWorldHint", tool->program);

		(void)json_array_append_new(list, row);
	}
	return list;
}

/* -- checking ---------------------------------------------------------------------- */

static bool are_words(const json_t *value)
{
	size_t i;
	json_t *word;

	if (json_array_size(value) == 0)
		return false;
	json_array_foreach(value, i, word)
	{
		if (!json_is_string(word) ||
		    strlen(json_string_value(word)) != json_string_length(word))
			return false;
	}
	return true;
}

/* NULL, or what the argument should have been. */
static const char *misfit(const struct mcp_argument *argument, const json_t *value)
{
	struct husk_error err = {0};
	const struct cli_language *language;

	switch (argument->kind) {
	case MCP_ARGUMENT_TEXT:
		return json_is_string(value) ? NULL : "must be a string";
	case MCP_ARGUMENT_LANGUAGE:
		return json_is_string(value) &&
			       cli_language_find(json_string_value(value), &language,
						 &err) == 0
			   ? NULL
			   : "must be python, bash or node";
	case MCP_ARGUMENT_SECONDS:
		return json_is_number(value) && json_number_value(value) > 0
			   ? NULL
			   : "must be a number of seconds, more than 0";
	case MCP_ARGUMENT_WORDS:
		return are_words(value) ? NULL
					: "must be a list of strings, the program first";
	case MCP_ARGUMENT_END:
		break;
	}
	return NULL;
}

static const struct mcp_argument *find_argument(const struct mcp_tool *tool,
						const char *name)
{
	for (size_t i = 0; tool->arguments[i].kind != MCP_ARGUMENT_END; i++) {
		if (strcmp(tool->arguments[i].name, name) == 0)
			return &tool->arguments[i];
	}
	return NULL;
}

bool mcp_tool_check(const struct mcp_tool *tool, json_t *arguments, char *why,
		    size_t size)
{
	const char *name;
	json_t *value;

	json_object_foreach(arguments, name, value)
	{
		const struct mcp_argument *argument = find_argument(tool, name);
		const char *wrong =
		    argument ? misfit(argument, value) : "is no argument of this tool";

		if (wrong) {
			(void)snprintf(why, size, "%.80s %s", name, wrong);
			return false;
		}
	}
	for (size_t i = 0; tool->arguments[i].kind != MCP_ARGUMENT_END; i++) {
		if (!tool->arguments[i].required ||
		    json_object_get(arguments, tool->arguments[i].name))
			continue;
		(void)snprintf(why, size, "%s is missing", tool->arguments[i].name);
		return false;
	}
	return true;
}
