// The official client, over HTTP and over standard input and output: the same tools either way.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { LOCI_BASE_URL, LOCI_API_KEY, LOCI_BIN } = process.env;
for (const [name, value] of Object.entries({ LOCI_BASE_URL, LOCI_API_KEY, LOCI_BIN })) {
  if (!value) throw new Error(`${name} must be set; see tests/sdk/README.md`);
}

function overHttp(key = LOCI_API_KEY) {
  const headers = { Authorization: `Bearer ${key}` };
  return new StreamableHTTPClientTransport(new URL("/mcp", LOCI_BASE_URL), { requestInit: { headers } });
}

async function works(transport) {
  const client = new Client({ name: "loci-tests", version: "1.0.0" });
  await client.connect(transport);
  try {
    assert.equal(client.getServerVersion().name, "loci");
    assert.match(client.getInstructions(), /memory_context/);
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map((tool) => tool.name).sort(), [
      "memory_context", "memory_edit", "memory_forget", "memory_list", "memory_read", "memory_search", "memory_write",
    ]);
    const call = async (name, args) => (await client.callTool({ name, arguments: args })).content[0].text;
    const path = `/ts/${Math.random().toString(36).slice(2)}.md`;
    assert.match(await call("memory_write", { path, content: "The otter likes tea." }), /version 1/);
    assert.match(await call("memory_edit", { path, old_text: "tea", new_text: "milk" }), /version 2/);
    assert.match(await call("memory_read", { path }), /The otter likes milk\./);
    assert.match(await call("memory_search", { query: "otter milk" }), new RegExp(path));
    const missing = await client.callTool({ name: "memory_read", arguments: { path: "/none" } });
    assert.equal(missing.isError, true);
    const read = await client.readResource({ uri: `loci://home${path}` });
    assert.equal(read.contents[0].text, "The otter likes milk.");
    const { prompts } = await client.listPrompts();
    assert.deepEqual(prompts.map((prompt) => prompt.name), ["recall", "remember"]);
    const filled = await client.getPrompt({ name: "recall", arguments: { topic: "otters" } });
    assert.match(filled.messages[0].content.text, /otters/);
  } finally {
    await client.close();
  }
}

test("over HTTP", () => works(overHttp()));

test("over standard input and output", async () => {
  const data = await mkdtemp(join(tmpdir(), "loci-mcp-"));
  try {
    await works(new StdioClientTransport({ command: LOCI_BIN, args: ["mcp", "--data", data] }));
  } finally {
    await rm(data, { recursive: true, force: true });
  }
});

test("a wrong key is refused", async () => {
  const client = new Client({ name: "loci-tests", version: "1.0.0" });
  await assert.rejects(client.connect(overHttp("loci_wrong")), /401|[Uu]nauthorized/);
});
