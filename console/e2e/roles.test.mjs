// What each role sees on every route: nobody's, search alone, reading, writing, administration. The right words, only the acts that would
// work, and no number of what one may not read, neither on the page nor in an answer to it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ADMIN_KEY, api, openPage, settled, stage } from "./support.mjs";
import { agent, entryAt, grant, put } from "./seed.mjs";

// Numbers that nothing else on a page is likely to be, but for a time that something took.
const MEMORIES = 137;
const CHANGES = 149;
const LEAK = new RegExp(`\\b(${MEMORIES}|${CHANGES})\\b(?! ms)`);
const ANSWER_LEAK = new RegExp(`"(memories|versions|last_seq|total|seq|count)":\\s*(${MEMORIES}|${CHANGES})\\b`);

async function guarded(server) {
  const store = (await api(server, "POST", "/v1/memory_stores", { name: "guarded", description: "Seen by few" })).id;
  await put(server, store, ADMIN_KEY, Array.from({ length: MEMORIES }, (_, number) => [`/kept/note-${number}`, `Quiet words, number ${number}.\n`, { kind: "fact" }]));
  await put(server, store, ADMIN_KEY, Array.from({ length: CHANGES - MEMORIES }, (_, number) => [`/kept/note-${number}`, "Quiet words, changed.\n"]));
  const entry = await entryAt(server, store, "/kept/note-3");
  const keys = { admin: ADMIN_KEY };
  for (const role of ["none", "search", "read", "readwrite"]) {
    const one = await agent(server, `role-${role}`, "user");
    if (role !== "none") await grant(server, store, one.name, role);
    keys[role] = one.key;
  }
  return { store, entry, keys };
}

const on = stage({ world: guarded, server: { config: '[search]\nembedder = "none"\n' } });

const NOTHING = "Nothing here, or you may not see it.";
const SEARCH_ONLY = "You may search this store but not browse it.";
const NOT_REACHED = "Your access does not reach this.";
const ADMINS_ONLY = "Only administrators see this.";

/** Routes of the store: what is seen there (`reads`: by who may only read), what tells a writer apart, and whether searching is enough. */
const storeRoutes = ({ store, entry }) => [
  { path: `/s/${store}`, seen: "kept/note-3", write: "New memory" },
  { path: `/s/${store}/m/kept/note-3?id=${entry.id}`, seen: "Quiet words", write: "Edit" },
  { path: `/s/${store}/m/kept/note-3?id=${entry.id}&tab=history`, seen: "v2", write: "Edit" },
  { path: `/s/${store}/m/kept/note-3?id=${entry.id}&tab=access`, reads: NOT_REACHED, seen: "role-read", write: "Edit" },
  { path: `/s/${store}/new`, reads: "You may not write here.", seen: "Text (Markdown)", write: "Save" },
  { path: `/s/${store}/knowledge`, seen: "Nobody and nothing is known yet." },
  { path: `/s/${store}/context`, seen: "Six slots" },
  { path: `/s/${store}/access`, reads: NOT_REACHED, seen: "role-search", write: "Grant access" },
  { path: `/s/${store}/hygiene?check=largest`, seen: "/kept/note-1" },
  { path: `/s/${store}/revert`, seen: "Choose who, and since when." },
  { path: `/s/${store}/settings`, seen: "Name and purpose", isSearchable: true },
];

/** Routes that have no store; what belongs to administrators says so to everybody else. */
const ROUTES = [
  // Who may only search a store is told its id and level, not its name.
  { path: "/", none: "No store yet.", search: "search only", seen: "guarded" },
  { path: "/search?q=quiet+words", none: "Search", seen: "/kept/note-" },
  { path: "/feed", none: "Quiet.", search: "Quiet.", seen: "/kept/note-" },
  { path: "/overview", seen: "Writes" },
  { path: "/sessions", seen: "Sessions" },
  ...["/agents", "/access", "/audit", "/keys", "/health"].map((path) => ({ path, isAdmins: true })),
];

for (const role of ["none", "search", "read", "readwrite", "admin"]) {
  test(`${role}: every route shows the right state and no number that is not theirs`, async () => {
    const one = await openPage(on.browser, on.server);
    const { page } = one;
    const answers = [];
    page.on("response", (response) => {
      if (response.request().resourceType() === "fetch") answers.push(response.text().catch(() => ""));
    });
    await one.signIn(on.world.keys[role]);
    const mayRead = ["read", "readwrite", "admin"].includes(role);
    const mayWrite = ["readwrite", "admin"].includes(role);
    const visit = async (path, words) => {
      await page.goto(one.at(path));
      await page.locator("main h1").first().waitFor();
      await settled(page);
      await page.locator("main").getByText(words).or(page.locator("main").getByLabel(words)).or(page.locator("main").getByRole("heading", { name: words })).first().waitFor().catch(async () => {
        assert.fail(`${role} at ${path} should see "${words}" and sees: ${(await page.locator("main").innerText()).slice(0, 400)}`);
      });
      assert.equal(await page.locator(".state-failed").count(), 0, `${role} at ${path}`);
      if (!mayRead) assert.doesNotMatch(await page.locator("body").innerText(), LEAK, `${role} at ${path}`);
    };
    for (const route of storeRoutes(on.world)) {
      const words = role === "none" ? NOTHING : role === "search" && !route.isSearchable ? SEARCH_ONLY : mayWrite || !route.reads ? route.seen : route.reads;
      await visit(route.path, words);
      if (!route.write) continue;
      const acts = page.locator("main").getByRole("button", { name: new RegExp(`^${route.write}`) });
      const offered = (await acts.count()) > 0 && (await acts.first().isEnabled());
      assert.equal(offered, mayWrite, `${route.write} for ${role} at ${route.path}`);
    }
    for (const route of ROUTES) {
      if (route.isAdmins && role !== "admin") await visit(route.path, ADMINS_ONLY);
      else if (route.isAdmins) {
        await page.goto(one.at(route.path));
        await page.locator("main h1").first().waitFor();
        await settled(page);
        assert.equal(await page.getByText(ADMINS_ONLY).count(), 0, route.path);
      } else await visit(route.path, route[role] ?? route.seen);
      if (role === "search" && route.path === "/") assert.doesNotMatch(await page.locator("body").innerText(), /guarded|Seen by few/);
    }
    if (!mayRead) for (const text of await Promise.all(answers)) assert.doesNotMatch(text, ANSWER_LEAK);
    if (role === "none") for (const text of await Promise.all(answers)) assert.doesNotMatch(text, /guarded|Quiet words|kept\/note/);
    else assert.ok((await Promise.all(answers)).some((text) => text.includes("Quiet words")), `${role} finds by search`);
    // What is not theirs to open is not offered either.
    const rail = page.getByRole("navigation", { name: "Console" });
    assert.equal(await rail.getByRole("link", { name: "Audit log" }).count(), role === "admin" ? 1 : 0);
    await one.calm();
    await one.close();
  });
}
