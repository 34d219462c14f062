// The protocol's own scenarios, those that fit a server of memories. The others ask for tools, prompts
// and resources with fixed names that only a server made for the suite has.
//
// The suite sends no credential, so a small proxy adds one; it passes everything else on as it is, the
// Host and the Origin too. It needs a newer Node than the one that runs these tests, which is why it
// brings its own.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer, request } from "node:http";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const { LOCI_BASE_URL, LOCI_API_KEY } = process.env;
for (const [name, value] of Object.entries({ LOCI_BASE_URL, LOCI_API_KEY })) {
  if (!value) throw new Error(`${name} must be set; see tests/sdk/README.md`);
}

const SCENARIOS = [
  "server-initialize",
  "ping",
  "tools-list",
  "resources-list",
  "prompts-list",
  "dns-rebinding-protection",
];
const TIMEOUT_MS = 60_000;

const bin = (name) => fileURLToPath(new URL(`node_modules/.bin/${name}`, import.meta.url));
let proxy;

before(async () => {
  const { hostname, port } = new URL(LOCI_BASE_URL);
  proxy = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${LOCI_API_KEY}` };
    const { method, url: path } = incoming;
    const onward = request({ hostname, port, method, path, headers }, (reply) => {
      outgoing.writeHead(reply.statusCode, reply.headers);
      reply.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise((done) => proxy.listen(0, "127.0.0.1", done));
});

after(() => {
  proxy.closeAllConnections();
  proxy.close();
});

function scenario(name) {
  const url = `http://127.0.0.1:${proxy.address().port}/mcp`;
  const child = spawn(bin("node"), [bin("conformance"), "server", "--url", url, "--scenario", name]);
  let told = "";
  child.stdout.on("data", (data) => (told += data));
  child.stderr.on("data", (data) => (told += data));
  const timer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT_MS);
  return new Promise((done) => {
    child.on("close", (code) => {
      clearTimeout(timer);
      done({ code, told });
    });
  });
}

for (const name of SCENARIOS) {
  test(name, async () => {
    const { code, told } = await scenario(name);
    assert.equal(code, 0, told);
    assert.match(told, /[1-9]\d* passed|Passed: [1-9]/i, told);
  });
}

test("a scenario that does not fit fails, so the others could", async () => {
  const { code } = await scenario("tools-call-simple-text");
  assert.notEqual(code, 0);
});
