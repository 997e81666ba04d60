# SPDX-License-Identifier: Apache-2.0
"""What an MCP client says to a server, and what must be answered whatever fails."""

import json

from harness import check, equal

CALLS = (("write_file", {"path": "a", "content": "1"}), ("read_file", {"path": "a"}),
         ("list_files", {}), ("run_code", {"code": "echo 1", "language": "bash"}),
         ("run_command", {"command": ["true"]}), ("reset", {}))
LINES = ({"id": 1, "method": "initialize",
          "params": {"protocolVersion": "2025-11-25", "capabilities": {}}},
         {"id": 2, "method": "tools/list"}, {"id": 3, "method": "resources/list"},
         *({"id": n, "method": "tools/call", "params": {"name": name, "arguments": args}}
           for n, (name, args) in enumerate(CALLS, 10)))


def said():
    return "".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in LINES).encode()


def check_answers(done, where):
    """Every line is a message, no request has two answers, and each has one, unless the
    server gave up, or says of a line that it could not be read."""
    ids = []
    for line in done.out.splitlines():
        message = json.loads(line)
        equal(message["jsonrpc"], "2.0", where)
        if "method" not in message:
            ids.append(message["id"])
    known = [n for n in ids if n is not None]
    equal(len(known), len(set(known)), f"{where}: answers, some twice")
    missing = {line["id"] for line in LINES} - set(known)
    if done.status == 0:
        check(len(missing) <= ids.count(None), f"{where}: no answer to {missing}")
