// Signing in and out: the key is nowhere afterwards, the cookie cannot be read by scripts, strangers cannot write with it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ADMIN_KEY, api, axeInBothThemes, oneTimeLink, openPage, settled, stage } from "./support.mjs";
import { agent, entryAt, put, seed } from "./seed.mjs";

const on = stage({ world: seed });

test("a wrong key is refused in words, a right one opens the stores and is kept nowhere", async () => {
  const one = await openPage(on.browser, on.server);
  const { page } = one;
  await page.goto(one.at("/"));
  await page.getByRole("heading", { name: "Sign in to the console" }).waitFor();
  await axeInBothThemes(page, "the door");
  await page.getByLabel("Key", { exact: true }).fill("loci_nothing");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("This key opens nothing").waitFor();
  await page.getByLabel("Key", { exact: true }).fill(ADMIN_KEY);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Stores" }).waitFor();
  await settled(page);
  const kept = await page.evaluate(() => JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage }) + location.href + document.cookie + document.documentElement.outerHTML);
  assert.ok(!kept.includes(ADMIN_KEY));
  const cookie = (await one.context.cookies()).find((found) => found.name === "loci_console");
  assert.equal(cookie?.httpOnly, true);
  assert.equal(cookie?.sameSite, "Strict");
  assert.ok(!cookie.value.includes(ADMIN_KEY));
  await one.calm();
  await one.close();
});

test("the page may not be framed, and its cookie writes nothing without the header or from elsewhere", async () => {
  const one = await openPage(on.browser, on.server);
  await one.signIn();
  const index = await fetch(one.at("/"), { headers: { accept: "text/html" } });
  const policy = index.headers.get("content-security-policy") ?? "";
  for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "require-trusted-types-for 'script'"]) assert.ok(policy.includes(part), policy);
  assert.equal(index.headers.get("cache-control"), "no-store");
  const [cookie] = await one.context.cookies();
  const headers = { cookie: `${cookie.name}=${cookie.value}`, "content-type": "application/json" };
  const target = `${on.server.origin}/v1/principals`;
  const body = JSON.stringify({ name: "intruder", kind: "agent" });
  assert.equal((await fetch(target, { method: "POST", headers, body })).status, 403);
  assert.equal((await fetch(target, { method: "POST", headers: { ...headers, "x-loci-console": "1", origin: "https://elsewhere.example" }, body })).status, 403);
  assert.equal((await fetch(target, { headers })).status, 200);
  await one.close();
});

test("a one-time link signs in, once, and its word is not left in the address", async () => {
  const link = await oneTimeLink(on.server);
  const one = await openPage(on.browser, on.server);
  await one.page.goto(link);
  await one.page.getByRole("heading", { name: "Stores" }).waitFor();
  assert.equal(new URL(one.page.url()).hash, "");
  const two = await openPage(on.browser, on.server);
  await two.page.goto(link);
  await two.page.getByText("This link was used already").waitFor();
  await axeInBothThemes(two.page, "a spent link");
  await one.calm();
  await two.calm();
  await one.close();
  await two.close();
});

test("signing out ends the session on the server", async () => {
  const one = await openPage(on.browser, on.server);
  await one.signIn();
  const [cookie] = await one.context.cookies();
  await one.page.getByRole("button", { name: /settings and signing out/ }).click();
  await one.page.getByRole("menuitem", { name: "Sign out" }).click();
  await one.page.getByRole("heading", { name: "Sign in to the console" }).waitFor();
  const again = await fetch(`${on.server.origin}/console/session`, { headers: { cookie: `${cookie.name}=${cookie.value}` } });
  assert.equal(again.status, 401);
  await one.calm();
  await one.close();
});

test("a session that ends while somebody types loses nothing", async () => {
  const person = await agent(on.server, "carl", "user");
  await api(on.server, "POST", `/v1/memory_stores/${on.world.team}/grants`, { grantee: "carl", level: "readwrite" });
  await put(on.server, on.world.team, undefined, [["/drafts/kept", "before\n"]]);
  const entry = await entryAt(on.server, on.world.team, "/drafts/kept");
  const one = await openPage(on.browser, on.server);
  await one.signIn(person.key);
  await one.open(`/s/${on.world.team}/m/drafts/kept?id=${entry.id}`);
  await one.page.getByRole("button", { name: /^Edit/ }).click();
  await one.page.getByLabel("Text (Markdown)").fill("typed before the key ended\n");
  await api(on.server, "DELETE", `/v1/api_keys/${person.keyId}`);
  await one.page.getByRole("button", { name: /^Save/ }).click();
  const dialog = one.page.getByRole("dialog", { name: "Your session has ended" });
  await dialog.waitFor();
  await axeInBothThemes(one.page, "the dialog of an ended session");
  const fresh = await api(on.server, "POST", "/v1/api_keys", { name: "carl again", principal: person.id, level: "full" });
  await dialog.getByLabel("Key", { exact: true }).fill(fresh.secret);
  await dialog.getByRole("button", { name: "Go on" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.equal(await one.page.getByLabel("Text (Markdown)").inputValue(), "typed before the key ended\n");
  await one.page.getByRole("button", { name: /^Save/ }).click();
  await one.page.getByText("Saved v2").waitFor();
  assert.equal((await entryAt(on.server, on.world.team, "/drafts/kept")).content, "typed before the key ended\n");
  await one.calm();
  await one.close();
});

test("what the first list needs is asked while it is found out who is signed in, once, and shown only then", async () => {
  const one = await openPage(on.browser, on.server);
  const { page } = one;
  await one.signIn();
  await settled(page);
  let release;
  const gate = new Promise((resolve) => (release = resolve));
  await page.route("**/console/session", async (route) => {
    await gate;
    await route.continue();
  });
  const asked = [];
  page.on("request", (request) => request.resourceType() === "fetch" && asked.push(new URL(request.url()).pathname.replace(on.world.team, "ID")));
  const rows = page.waitForResponse((response) => response.url().includes("/entries?") && response.url().includes("view=basic"));
  await page.goto(one.at(`/s/${on.world.team}?sort=path-asc`));
  await (await rows).finished();
  assert.ok(asked.includes("/console/stores"));
  assert.doesNotMatch(await page.locator("body").innerText(), /team-a|decisions/);
  release();
  await page.getByRole("link", { name: "decisions/database" }).waitFor();
  await settled(page);
  for (const path of ["/console/session", "/console/stores"]) assert.equal(asked.filter((one) => one === path).length, 1, path);
  // Its rows, and the directories at its top.
  assert.equal(asked.filter((one) => one === "/v1/memory_stores/ID/entries").length, 2);
  await one.calm();
  await one.close();
});

test("what was asked ahead for one is never shown to another", async () => {
  const stranger = await agent(on.server, "stranger", "user");
  const one = await openPage(on.browser, on.server);
  const { page } = one;
  await one.signIn();
  await settled(page);
  // The administrator's cookie answers what is asked ahead, and then the session is said to have ended.
  let answered;
  const first = new Promise((resolve) => (answered = resolve));
  page.on("response", (response) => response.url().endsWith("/console/stores") && answered());
  await page.route("**/console/session", async (route) => {
    await first;
    await route.fulfill({ status: 401, contentType: "application/json", body: "{}" });
  });
  await page.goto(one.at("/"));
  await page.getByLabel("Key", { exact: true }).fill(stranger.key);
  await page.getByRole("button", { name: "Sign in" }).click();
  // What everybody may search, by its id, and no more.
  await page.getByRole("link", { name: on.world.support, exact: true }).waitFor();
  assert.equal(await page.getByRole("link", { name: "team-a", exact: true }).count(), 0);
  await page.unroute("**/console/session");
  // A link that signs in as somebody else: nothing is asked with the old cookie.
  const asked = [];
  page.on("request", (request) => request.resourceType() === "fetch" && asked.push(new URL(request.url()).pathname));
  await page.goto("about:blank");
  await page.goto(one.at("/") + new URL(await oneTimeLink(on.server)).hash);
  await page.getByRole("link", { name: "team-a", exact: true }).waitFor();
  assert.equal(asked[0], "/console/login");
  await one.calm();
  await one.close();
});

test("somebody without a store sees words, not a blank", async () => {
  const stranger = await agent(on.server, "nobody-yet", "user");
  const one = await openPage(on.browser, on.server);
  await one.signIn(stranger.key);
  await settled(one.page);
  assert.equal(await one.page.getByRole("link", { name: "team-a" }).count(), 0);
  assert.equal(await one.page.getByRole("link", { name: "Audit log" }).count(), 0);
  await one.open(`/s/${on.world.team}`).catch(() => undefined);
  await one.page.getByText("Nothing here, or you may not see it.").first().waitFor();
  await one.calm();
  await one.close();
});
