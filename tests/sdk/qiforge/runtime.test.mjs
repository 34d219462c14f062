// The memory classes of the published runtime, unchanged: the plugin that offers the tools, and the
// composer that puts what is known into the prompt. Tokens are made by the original library.
//
// The class that asks the six questions stands on a package that is not published; its requests are
// made here as the runtime sends them.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as ed25519 from "@ucanto/principal/ed25519";
import { delegate, invoke } from "@ucanto/core";

const RUNTIME = new URL("node_modules/@ixo/oracle-runtime/dist/", import.meta.url);
const { MemoryPlugin } = await import(new URL("plugins/memory/memory.plugin.js", RUNTIME));
const names = await import(new URL("plugins/memory/memory-tools.js", RUNTIME));
const { composePrompt } = await import(new URL("graph/prompt-composer.js", RUNTIME));

const { LOCI_BASE_URL } = process.env;
if (!LOCI_BASE_URL) throw new Error("LOCI_BASE_URL must be set; see tests/sdk/README.md");
const ENGINE = `${LOCI_BASE_URL}/qiforge`;
const ALL = [
  names.MEMORY_SEARCH_MCP_NAME,
  names.MEMORY_ADD_MCP_NAME,
  names.MEMORY_ADD_ORACLE_KNOWLEDGE_MCP_NAME,
  names.MEMORY_DELETE_EPISODE_MCP_NAME,
  names.MEMORY_DELETE_EDGE_MCP_NAME,
  names.MEMORY_CLEAR_MCP_NAME,
];
const capabilities = [{ can: "memory/*", with: "ixo:memory" }];

async function serviceDid(url) {
  const reply = await fetch(new URL("/.well-known/did.json", url));
  return (await reply.json()).id;
}

/** A user who let an oracle act for them, and the token that the oracle's runtime makes of it. */
async function session(oracle, room = "!room:matrix.example.org") {
  const user = await ed25519.generate();
  const proof = await delegate({ issuer: user, audience: oracle, capabilities });
  return { user, oracle, proof, room };
}

async function token({ oracle, proof }, audience) {
  const invocation = invoke({
    issuer: oracle,
    audience: { did: () => audience },
    capability: capabilities[0],
    proofs: [proof],
    facts: [{ nonce: crypto.randomUUID() }],
  });
  const { ok, error } = await (await invocation.delegate()).archive();
  if (error) throw error;
  return Buffer.from(ok).toString("base64");
}

function context(session) {
  const quiet = () => undefined;
  return {
    config: { MEMORY_MCP_URL: `${ENGINE}/mcp`, MEMORY_ENGINE_URL: ENGINE },
    session: { roomId: session.room },
    logger: { debug: quiet, log: quiet, warn: (text) => assert.fail(text), error: (text) => assert.fail(text) },
    ucan: {
      hasSigningKey: () => true,
      resolveServiceDid: serviceDid,
      mintInvocation: ({ did, capability }, { can }) => {
        assert.deepEqual({ capability, can }, { capability: "ixo:memory", can: "memory/*" });
        return token(session, did);
      },
    },
  };
}

async function tools(session) {
  names.clearMemoryToolDefsCache();
  const found = await new MemoryPlugin({ selectedTools: ALL }).getRequestTools(context(session));
  return new Map(found.map((tool) => [tool.name, tool]));
}

const text = (answer) => (typeof answer === "string" ? answer : JSON.stringify(answer));

async function post(session, path, body) {
  const headers = {
    Authorization: `Bearer ${await token(session, await serviceDid(ENGINE))}`,
    "X-Auth-Type": "ucan",
    "x-room-id": session.room,
    "Content-Type": "application/json",
  };
  const reply = await fetch(`${ENGINE}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  assert.ok(reply.ok, `${reply.status} ${path}`);
  return reply.json();
}

const SLOTS = [
  ["identity", "balanced", [12, 8, 3, 2]],
  ["work", "balanced", [15, 10, 5, 2]],
  ["goals", "balanced", [10, 6, 3, 1]],
  ["interests", "balanced", [10, 6, 3, 1]],
  ["relationships", "balanced", [8, 10, 3, 1]],
  ["recent", "recent_memory", [10, 6, 8, 2]],
];
const ABOUT = {
  identity: "who this person is, their traits, their values and how they like to be addressed",
  work: "what this person does for a living, projects, tools, problems they solved and colleagues",
  goals: "what this person wants to achieve, what they are learning, habits and milestones",
  interests: "hobbies and topics this person enjoys, what they like and what they dislike",
  relationships: "people, groups and communities that this person knows or mentions",
  recent: "what has been going on for this person lately",
};

async function slots(session) {
  const since = new Date(Date.now() - 90 * 86_400_000).toISOString();
  const queries = SLOTS.map(([name, strategy, [facts, entities, episodes, communities]]) => ({
    oracle_dids: [session.oracle.did()],
    query: ABOUT[name],
    strategy,
    max_facts: facts,
    max_entities: entities,
    max_episodes: episodes,
    max_communities: communities,
    knowledge_level: "both",
    center_node_uuid: null,
    search_filters:
      strategy === "recent_memory"
        ? { created_at: [[{ date: since, comparison_operator: ">=" }]] }
        : { invalid_at: [[{ date: null, comparison_operator: "IS NULL" }]] },
  }));
  const { results } = await post(session, "/search-enhanced-batch", { queries });
  assert.equal(results.length, 6);
  return results;
}

test("the plugin's tools write, find, and take away", async () => {
  const oracle = await ed25519.generate();
  const ana = await session(oracle);
  const offered = await tools(ana);
  assert.deepEqual([...offered.keys()].sort(), [...ALL].sort());
  for (const tool of offered.values()) assert.ok(tool.description.length > 0, tool.name);
  await offered.get(names.MEMORY_ADD_MCP_NAME).handler({ name: "home", content: "User lives in Lisbon." });
  const search = (own, query) => own.get(names.MEMORY_SEARCH_MCP_NAME).handler({ query, strategy: "balanced" });
  const found = text(await search(offered, "Where is home?"));
  assert.match(found, /User lives in Lisbon/);
  const ben = await tools(await session(oracle));
  assert.doesNotMatch(text(await search(ben, "Where is home? Lisbon")), /lives in Lisbon/);
  const { episodes } = JSON.parse(found);
  const remove = { episode_uuid: episodes[0].uuid, confirmed_deletion_from_user: true };
  await offered.get(names.MEMORY_DELETE_EPISODE_MCP_NAME).handler(remove);
  assert.doesNotMatch(text(await search(offered, "Where is home?")), /Lisbon\./);
  await assert.rejects(async () => {
    const answer = await offered.get(names.MEMORY_ADD_ORACLE_KNOWLEDGE_MCP_NAME).handler({
      name: "x", content: "y", confirmed_insertion_from_user: true, knowledge_space_type: "public",
    });
    if (/owner/.test(text(answer))) throw new Error("refused");
  });
});

test("what was said is in the prompt of the next turn", async () => {
  const oracle = await ed25519.generate();
  const ana = await session(oracle);
  const said = [
    "I work at Acme as a nurse.",
    "I live in Porto.",
    "I moved to Lisbon last month.",
    "I love board games and hate olives.",
    "My sister Maria works at Globex.",
    "I'm training for a marathon.",
  ];
  const messages = said.map((content) => ({
    content, role_type: "user", role: "Ana", name: "Ana", source_description: "Chat Session: hello",
  }));
  messages.splice(1, 0, { ...messages[0], content: "", role_type: "assistant", name: "Oracle", role: "Oracle" });
  await post(ana, "//messages", { messages });
  const results = await slots(ana);
  for (const slot of results) {
    for (const entity of slot.entities) assert.ok(Array.isArray(entity.labels), JSON.stringify(entity));
    assert.equal(typeof slot.total_results.facts, "number");
  }
  const userContext = Object.fromEntries(SLOTS.map(([name], at) => [name, results[at]]));
  const prompt = await composePrompt({ identity: { name: "Oracle", org: "Org" }, userContext });
  const block = prompt.split("## What you know about the user")[1] ?? "";
  assert.match(block, /Ana lives in Lisbon/, prompt);
  assert.match(block, /Ana works at Acme/);
  assert.doesNotMatch(block, /Ana lives in Porto/);
});

test("a session of more than a thousand messages is kept whole", async () => {
  const ana = await session(await ed25519.generate());
  const messages = Array.from({ length: 1500 }, (_, at) => ({
    content: `Message ${at} is about a heron.`, role_type: at % 2 ? "assistant" : "user",
    role: at % 2 ? "Oracle" : "Ana", name: at % 2 ? "Oracle" : "Ana", source_description: "Chat Session: long",
  }));
  // The runtime sends everything since its watermark, and all of it again until it sees an answer.
  for (const expected of [/^1500 messages added/, /^0 messages added, 1500 known/]) {
    const { success, message } = await post(ana, "//messages", { messages });
    assert.equal(success, true);
    assert.match(message, expected);
  }
  const ask = { oracle_dids: [ana.oracle.did()], query: "Message 1499", max_episodes: 50, knowledge_level: "user" };
  const { results } = await post(ana, "/search-enhanced-batch", { queries: [ask] });
  const found = results[0].episodes.map(({ content }) => content);
  assert.ok(found.includes("Message 1499 is about a heron."), JSON.stringify(found));
});
