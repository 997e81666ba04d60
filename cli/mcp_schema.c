/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes of structured content, as JSON Schema (2020-12). Fields may be added to what
 * they describe, so nothing here forbids more. */
#include "cli/mcp_tools.h"

#define COUNT_OR_NULL "{\"type\":[\"integer\",\"null\"],\"minimum\":0}"
#define LIMIT	      "{\"enum\":[\"enforced\",\"best-effort\",\"off\"]}"

const char mcp_schema_run[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"stdout\":{\"type\":\"string\",\"description\":\"what it printed\"},"
    "\"stderr\":{\"type\":\"string\"},"
    "\"stdout_b64\":{\"type\":\"string\",\"description\":\"the exact bytes, where they "
    "are not UTF-8\"},"
    "\"stderr_b64\":{\"type\":\"string\"},"
    "\"exit_code\":{\"type\":\"integer\",\"description\":\"128+N when signal N ended "
    "it\"},"
    "\"signal\":{\"type\":[\"integer\",\"null\"]},"
    "\"duration_ms\":{\"type\":\"integer\",\"minimum\":0},"
    "\"fault\":{\"type\":[\"object\",\"null\"],\"description\":\"what the sandbox did, "
    "if it did anything\",\"properties\":{"
    "\"type\":{\"enum\":[\"timeout\",\"escape_blocked\",\"oom\",\"killed\","
    "\"startup_failed\",\"cancelled\"]},"
    "\"message\":{\"type\":\"string\"},\"detail\":{\"type\":\"string\"}},"
    "\"required\":[\"type\",\"message\",\"detail\"]},"
    "\"files\":{\"type\":\"array\",\"description\":\"files of the workspace that it "
    "changed\",\"items\":{\"type\":\"object\",\"properties\":{"
    "\"path\":{\"type\":\"string\"},\"size\":{\"type\":\"integer\",\"minimum\":0},"
    "\"change\":{\"enum\":[\"created\",\"modified\",\"deleted\"]}},"
    "\"required\":[\"path\",\"size\",\"change\"]}},"
    "\"files_complete\":{\"type\":\"boolean\"},"
    "\"truncated\":{\"type\":\"boolean\",\"description\":\"more was printed than is "
    "kept\"},"
    "\"success\":{\"type\":\"boolean\"},"
    "\"usage\":{\"type\":\"object\",\"properties\":{"
    "\"wall_us\":" COUNT_OR_NULL ",\"cpu_us\":" COUNT_OR_NULL
    ",\"memory_peak_bytes\":" COUNT_OR_NULL ",\"pids_peak\":" COUNT_OR_NULL "}},"
    "\"limits\":{\"type\":\"object\",\"properties\":{"
    "\"memory\":" LIMIT ",\"cpus\":" LIMIT ",\"pids\":" LIMIT "}},"
    "\"hint\":{\"type\":\"string\"}},"
    "\"required\":[\"stdout\",\"stderr\",\"exit_code\",\"signal\",\"duration_ms\","
    "\"fault\",\"files\",\"truncated\",\"success\",\"usage\",\"limits\"]}";

const char mcp_schema_write[] =
    "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},"
    "\"size\":{\"type\":\"integer\",\"minimum\":0}},\"required\":[\"path\",\"size\"]}";

const char mcp_schema_read[] =
    "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},"
    "\"size\":{\"type\":\"integer\",\"minimum\":0},"
    "\"content\":{\"type\":\"string\",\"description\":\"where it is text\"},"
    "\"content_base64\":{\"type\":\"string\",\"description\":\"where it is not\"},"
    "\"media_type\":{\"type\":\"string\"}},"
    "\"required\":[\"path\",\"size\",\"media_type\"]}";

const char mcp_schema_list[] =
    "{\"type\":\"object\",\"properties\":{\"files\":{\"type\":\"array\","
    "\"items\":{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},"
    "\"size\":{\"type\":\"integer\",\"minimum\":0}},\"required\":[\"path\",\"size\"]}},"
    "\"complete\":{\"type\":\"boolean\"}},\"required\":[\"files\",\"complete\"]}";

const char mcp_schema_reset[] =
    "{\"type\":\"object\",\"properties\":{\"reset\":{\"const\":true}},"
    "\"required\":[\"reset\"]}";
