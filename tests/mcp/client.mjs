// SPDX-License-Identifier: Apache-2.0
// Drives `husk mcp` with an official client, v1 or v2 of the TypeScript SDK, and prints what
// it saw as JSON. Usage: node client.mjs v1|v2 PACKAGES COMMAND [OPTION...]
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [which, packages, command, ...args] = process.argv.slice(2);
const require = createRequire(pathToFileURL(packages + "/package.json"));
const load = (name) => import(pathToFileURL(require.resolve(name)));

const first = which === "v1";
const { Client } = first
  ? await load("@modelcontextprotocol/sdk/client/index.js")
  : await load("@modelcontextprotocol/client");
const { StdioClientTransport } = first
  ? await load("@modelcontextprotocol/sdk/client/stdio.js")
  : await load("@modelcontextprotocol/client/stdio");

const client = new Client(
  { name: "husk-test", version: "1.0.0" },
  first ? {} : { versionNegotiation: { mode: "auto" } });
const transport = new StdioClientTransport({ command, args, env: process.env });
const seen = {};

const call = async (name, args, options) =>
  await client.callTool({ name, arguments: args },
    ...(first ? [undefined, options] : [options]));
const thrown = async (promise) => {
  try {
    await promise;
    return null;
  } catch (error) {
    return { name: error.name, code: error.code, message: error.message };
  }
};

await client.connect(transport);
seen.server = client.getServerVersion();
seen.version = first ? null : client.getNegotiatedProtocolVersion();
seen.tools = (await client.listTools()).tools;
seen.code = await call("run_code", { code: "print(6*7)" });
seen.command = await call("run_command", { command: ["sh", "-c", "exit 7"] });
seen.write = await call("write_file", { path: "d/in.csv", content: "a,b\n1,2\n" });
seen.read = await call("read_file", { path: "d/in.csv" });
seen.list = await call("list_files", {});
seen.picture = await call("run_code", {
  code: "import base64\nopen('p.png','wb').write(base64.b64decode('" +
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJ" +
    "RU5ErkJggg=='))",
});
seen.blocked = await call("run_code", {
  code: "import ctypes; ctypes.CDLL(None).mount(0, 0, 0, 0, 0)" });
seen.refused = await call("run_code", { code: "1", network: true });
seen.unknown = await thrown(call("no_such_tool", {}));
const progress = [];
await call("run_code", {
  code: "import time\nfor i in range(3): print('step', i, flush=True); time.sleep(.7)" },
{ onprogress: (event) => progress.push(event) });
seen.progress = progress;
const abort = new AbortController();
setTimeout(() => abort.abort(), 300);
seen.cancelled = await thrown(
  call("run_command", { command: ["sleep", "60"] }, { signal: abort.signal }));
seen.resources = (await client.listResources()).resources;
seen.resource = (await client.readResource({ uri: "husk://workspace/d/in.csv" })).contents;
seen.templates = (await client.listResourceTemplates()).resourceTemplates;
seen.missing = await thrown(client.readResource({ uri: "husk://workspace/none" }));
seen.reset = await call("reset", {});
seen.after = await call("list_files", {});
await client.close();
console.log(JSON.stringify(seen));
