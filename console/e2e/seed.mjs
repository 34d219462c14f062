// A small world for the tests: a team, its agents, what they remember, and a little history.

import { createHash } from "node:crypto";
import { ADMIN_KEY, api } from "./support.mjs";

const DAY = 86_400_000;

/**
 * Versions of memories as a file of an export has them: the only way to have been written earlier. `rows` are objects with path, text and
 * `at` (a number of milliseconds), and optionally `by` (a key), attributes, memory, revision and operation; only into a store that is empty.
 */
export async function importPast(server, store, rows) {
  const line = (row, at) => {
    const number = String(serial + at).padStart(22, "0");
    return JSON.stringify({
      type: "version", store, seq: at + 1, id: `memver_01${number}`, memory: `mem_01${String(row.memory ?? serial + at).padStart(22, "0")}`, owner: "admin", partition: null,
      revision: row.revision ?? 1, operation: row.operation ?? "created", path: row.path, attributes: row.attributes ?? {}, text: row.text, sha256: createHash("sha256").update(row.text).digest("hex"),
      actor: `key:${row.by}`, created_at: new Date(row.at).toISOString(), request: null, reason: "import", redacted_at: null, redacted_by: null,
    });
  };
  for (let first = 0; first < rows.length; first += 4000) {
    const lines = rows.slice(first, first + 4000).map((row, at) => line(row, first + at));
    const body = [JSON.stringify({ type: "loci_export", format: 3 }), ...lines].join("\n");
    const response = await fetch(`${server.origin}/v1/import`, { method: "POST", headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/x-ndjson" }, body });
    if (!response.ok) throw new Error(`import: ${response.status} ${await response.text()}`);
  }
  serial += rows.length;
}

let serial = 1;

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

const LOG = [
  "Release 4.12 went out without a hitch; error rate stayed at 0.02 %.",
  "Two builds failed on the flaky upload test. bot-7 reran them and opened a ticket.",
  "The staging database was refreshed from last night's backup.",
  "Ana asked to keep the old checkout page until the end of the month.",
  "Latency of /search rose to 480 ms for ten minutes; a missing index was the reason.",
  "Dependency update: 14 packages, no change in the bundle's size.",
  "The nightly tidy-up merged three notes about the login page into one.",
];

const TICKETS = [
  ["/billing/vat", "VAT numbers are checked once a day; a new one can take until midnight to be accepted."],
  ["/billing/refund", "Refunds below 50 euros are given by support, larger ones by Ana."],
  ["/import/csv-dates", "Dates in a CSV must be ISO 8601; Excel's own format is refused with code 1042."],
  ["/import/size", "Files above 200 MB are sent by link, not as an upload."],
  ["/login/sso", "SSO needs the domain to be verified first: Settings, Domains, Verify."],
  ["/login/2fa-lost", "Who lost the second factor is called back at the number on file before it is reset."],
  ["/api/rate", "A customer at 600 requests a minute gets 429; a higher plan has 3,000."],
  ["/mobile/notifications", "Android stops notifications in battery saver; the app cannot change that."],
];

/** What the team's agents wrote over the last months: a log, a status page that changes, and some that nobody touched for long. */
function teamPast(bot, ana) {
  const now = Date.now();
  const rows = [
    { path: "/projects/legacy/ftp", text: "The FTP drop of the old shop is read every hour by cron on host shop-2.\n", attributes: { kind: "fact", tags: ["legacy"] }, at: now - 212 * DAY, by: ana },
    { path: "/projects/legacy/reports", text: "Monthly reports were mailed by hand until the dashboard came.\n", attributes: { kind: "episode", tags: ["legacy"] }, at: now - 134 * DAY, by: ana },
    { path: "/projects/mobile/min-version", text: "Android 9 and iOS 15 are the oldest that we test.\n", attributes: { kind: "fact", tags: ["mobile"], importance: 55 }, at: now - 61 * DAY, by: bot },
  ];
  const status = 900_000;
  let revision = 0;
  for (let day = 24; day >= 1; day -= 1) {
    const number = 25 - day;
    rows.push({ path: `/log/day-${String(number).padStart(2, "0")}`, text: `${LOG[number % LOG.length]}\n`, attributes: { kind: "episode", tags: number % 4 === 0 ? ["release"] : [] }, at: now - day * DAY - (number % 9) * 3_600_000, by: bot });
    if (day % 3 === 0) {
      revision += 1;
      rows.push({ path: "/projects/web/status", memory: status, revision, operation: revision === 1 ? "created" : "modified", text: `Sprint ${40 + revision}: ${3 + (revision % 4)} tickets open, ${revision * 2} done.\n`, attributes: { kind: "fact", tags: ["sprint"], importance: 50 }, at: now - day * DAY + 7_200_000, by: revision % 2 ? bot : ana });
    }
  }
  for (let hour = 22; hour >= 1; hour -= 1) {
    if (hour % 5 === 3) continue;
    rows.push({ path: `/runs/${new Date(now - hour * 3_600_000).toISOString().slice(11, 13)}h`, text: `${1 + (hour % 4)} checks ran, ${hour % 7 === 0 ? "one failed and was retried" : "all green"}.\n`, attributes: { kind: "episode" }, at: now - hour * 3_600_000, by: bot });
  }
  return rows.sort((a, b) => a.at - b.at);
}

const supportPast = (bot) => TICKETS.map(([path, text], at) => ({ path, text: `${text}\n`, attributes: { kind: "howto" }, at: Date.now() - (TICKETS.length - at) * 0.8 * DAY, by: bot }));

/** So many memories, one after another. */
const steady = (by, kind, path, count, days) =>
  Array.from({ length: count }, (_, at) => ({ path: `${path}-${String(at + 1).padStart(2, "0")}`, text: `${LOG[at % LOG.length]}\n`.repeat(1 + (at % 5)), attributes: { kind }, at: Date.now() - (count - at) * days * DAY, by }));

/** The world; most is made through the API, as agents would, and the past is imported. */
export async function seed(server) {
  const ana = await agent(server, "ana", "user");
  const bot7 = await agent(server, "bot-7");
  const bot2 = await agent(server, "bot-2");
  const make = (name, description) => api(server, "POST", "/v1/memory_stores", { name, description });
  const team = await make("team-a", "What the web team and its agents know about their projects");
  const support = await make("support-notes", "Answers that solved a customer's problem");
  const people = await make("people", "Who is who, as told in conversations");
  await importPast(server, team.id, teamPast(bot7.keyId, ana.keyId));
  await importPast(server, support.id, supportPast(bot2.keyId));
  await importPast(server, people.id, [
    { path: "/ana/work", text: "Ana works at Acme. Ana lives in Porto.", attributes: { kind: "fact" }, at: Date.now() - 260 * DAY, by: bot7.keyId },
    { path: "/mira/work", text: "Mira works at Initech.", attributes: { kind: "fact" }, at: Date.now() - 90 * DAY, by: bot7.keyId },
  ]);
  const runbooks = await make("runbooks", "What to do when something breaks, step by step");
  const research = await make("research", "Papers and experiments, summarised by bot-2");
  await importPast(server, runbooks.id, steady(ana.keyId, "howto", "/incidents/runbook", 14, 2));
  await importPast(server, research.id, steady(bot2.keyId, "fact", "/papers/note", 31, 0.6));
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
