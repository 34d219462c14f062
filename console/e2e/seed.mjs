// A small world for the tests: a team, its agents, what they remember, and a little history.

import { api } from "./support.mjs";

/** Writes at paths as somebody; returns the outcomes. */
export async function put(server, store, key, entries, reason) {
  const edits = entries.map(([path, content, attributes = {}]) => ({ op: "put", path, content, attributes }));
  const body = reason ? { edits, reason } : { edits };
  return (await api(server, "POST", `/v1/memory_stores/${store}/edits`, body, key)).data;
}

export async function agent(server, name, kind = "agent") {
  const principal = await api(server, "POST", "/v1/principals", { name, kind });
  const key = await api(server, "POST", "/v1/api_keys", { name: `${name} key`, principal: principal.id, level: "full" });
  return { id: principal.id, name, key: key.secret, keyId: key.id };
}

export const grant = (server, store, who, level) => api(server, "POST", `/v1/memory_stores/${store}/grants`, { grantee: who, level });

const DEPLOY = `# Deploying the web app

Run the deploy script from the **main** branch:

1. check that the tests are green
2. \`./deploy.sh web\`
3. watch the dashboard for ten minutes

> Roll back with \`./deploy.sh web --to previous\`.

| step | takes |
|---|---|
| build | 4 min |
| roll out | 6 min |
`;

/** The world; everything is made through the API, as agents would. */
export async function seed(server) {
  const ana = await agent(server, "ana", "user");
  const bot7 = await agent(server, "bot-7");
  const bot2 = await agent(server, "bot-2");
  const make = (name, description) => api(server, "POST", "/v1/memory_stores", { name, description });
  const team = await make("team-a", "What the web team and its agents know about their projects");
  const support = await make("support-notes", "Answers that solved a customer's problem");
  const people = await make("people", "Who is who, as told in conversations");
  await grant(server, team.id, "bot-7", "readwrite");
  await grant(server, team.id, "bot-2", "read");
  await grant(server, team.id, "ana", "readwrite");
  await grant(server, support.id, "everyone", "search");
  await grant(server, people.id, "bot-7", "readwrite");
  await put(server, team.id, bot7.key, [
    ["/projects/web/deploy", "Run deploy.sh\n", { kind: "howto", tags: ["ops"], importance: 70 }],
    ["/projects/web/colours", "The brand blue is #1d5fd1. Ana prefers **calm** colours.\n", { kind: "preference", tags: ["ui"], importance: 40 }],
    ["/projects/web/token-ttl", "Access tokens live for 15 minutes.\n", { kind: "fact", tags: ["auth", "security"], importance: 70 }],
    ["/projects/api/limits", "The API allows 600 requests a minute and key.\n", { kind: "fact", tags: ["ops"], importance: 60, source: "runbook" }],
    ["/projects/api/errors", "Answers with 409 must not be retried.\n", { kind: "fact", tags: ["api"] }],
    ["/projects/api/oncall", "On call this week: bot-7 first, then Ana.\n", { kind: "episode", ttl_seconds: 7200 }],
    ["/decisions/database", "We keep SQLite until a second server is needed.\n", { kind: "fact", tags: ["decision"], importance: 90, pinned: true, summary: "SQLite first" }],
    ["/decisions/search", "Search is by word and by meaning; convex fusion won the evaluation.\n", { kind: "fact", tags: ["decision"] }],
  ]);
  for (let day = 1; day <= 24; day += 1) {
    await put(server, team.id, bot7.key, [[`/log/day-${String(day).padStart(2, "0")}`, `Day ${day}: ${day % 3} builds failed and were mended by bot-7.\n`, { kind: "episode" }]]);
  }
  await put(server, team.id, ana.key, [["/projects/web/deploy", DEPLOY, { kind: "howto", tags: ["ops"], importance: 80 }]]);
  await put(server, team.id, bot7.key, [["/projects/web/deploy", DEPLOY.replace("ten minutes", "fifteen minutes"), { importance: 90, pinned: true }]]);
  await put(server, support.id, undefined, [
    ["/login/loop", "A login loop after an upgrade is an old cookie. Sign out everywhere, then sign in.\n", { kind: "howto" }],
    ["/login/loop-again", "A login loop after an upgrade is an old cookie. Sign out everywhere, then sign in.\n", { kind: "howto" }],
    ["/billing/export", "Invoices are exported as CSV from Billing, then Export.\n", { kind: "howto" }],
    ["/keys/leaked", "A customer sent us AKIAIOSFODNN7EXAMPLE in a ticket; it was revoked.\n", { kind: "episode" }],
  ]);
  await put(server, people.id, bot7.key, [
    ["/ana/work", "Ana works at Globex. Ana lives in Lisbon. Ana likes sailing.", { kind: "fact" }],
    ["/ana/family", "Ana is married to Rui. Rui works at Acme.", { kind: "fact" }],
    ["/mira/work", "Mira works at Globex. Mira wants to learn Portuguese.", { kind: "fact" }],
    ["/jo/home", "Jo lives in Porto. Jo is a friend of Ana.", { kind: "fact" }],
  ]);
  const session = await api(server, "POST", "/v1/sessions", {
    agent: "agent_nightly",
    environment_id: "env_console",
    title: "Nightly tidy-up",
    resources: [{ type: "memory_store", memory_store_id: team.id, access: "read_write" }],
  });
  return { ana, bot7, bot2, team: team.id, support: support.id, people: people.id, session: session.id };
}

/** The entry at a path. */
export async function entryAt(server, store, path, key) {
  const found = await api(server, "GET", `/v1/memory_stores/${store}/memory_by_path?path=${encodeURIComponent(path)}`, undefined, key);
  return api(server, "GET", `/v1/memory_stores/${store}/entries/${found.id}?view=full`, undefined, key);
}
