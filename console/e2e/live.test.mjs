// Changes as they happen: within a second, in order, once; paused and resumed; over a restart of the server.

import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { openPage, settled, startBrowser, startServer } from "./support.mjs";
import { entryAt, put, seed } from "./seed.mjs";

let server;
let browser;
let world;
let one;

before(async () => {
  server = await startServer();
  browser = await startBrowser();
  world = await seed(server);
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

beforeEach(async () => {
  one = await openPage(browser, server);
  await one.signIn();
});

afterEach(async () => {
  await one.calm();
  await one.close();
});

const isLive = () => one.page.locator(".live-on").waitFor();

test("a write of an agent is in the feed within a second", async () => {
  const { page } = one;
  await one.open("/feed");
  await isLive();
  const start = Date.now();
  await put(server, world.team, world.bot7.key, [["/live/one", "hello\n"]]);
  await page.locator(".feed").getByText("/live/one").waitFor();
  const took = Date.now() - start;
  assert.ok(took < 1000, `${took} ms`);
});

test("a list and an open memory follow by themselves", async () => {
  const { page } = one;
  await one.open(`/s/${world.team}`);
  await settled(page);
  await isLive();
  await put(server, world.team, world.bot7.key, [["/live/listed", "hello\n"]]);
  await page.getByRole("link", { name: "live/listed" }).waitFor({ timeout: 2000 });
  const entry = await entryAt(server, world.team, "/live/listed");
  await one.open(`/s/${world.team}/m/live/listed?id=${entry.id}`);
  await settled(page);
  await isLive();
  await put(server, world.team, world.bot7.key, [["/live/listed", "hello again\n"]]);
  await page.getByText("hello again").waitFor({ timeout: 2000 });
});

test("paused, nothing moves; resumed, everything is there in order and once", async () => {
  const { page } = one;
  await one.open(`/feed?prefix=/burst/`);
  await isLive();
  await page.getByRole("button", { name: /^Pause/ }).click();
  const writes = Array.from({ length: 60 }, (_, number) => [`/burst/${String(number).padStart(2, "0")}`, `${number}\n`]);
  for (let at = 0; at < writes.length; at += 20) await put(server, world.team, world.bot7.key, writes.slice(at, at + 20));
  await page.getByText("60 new changes waiting").waitFor();
  assert.equal(await page.locator(".feed-row").count(), 0);
  await page.locator(".sticky-note").getByRole("button", { name: "Resume" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".feed-row").length === 60);
  const paths = await page.locator(".feed-row .path").allTextContents();
  assert.deepEqual(paths, writes.map(([path]) => path).reverse());
});

test("undo from the feed takes back what an agent just wrote", async () => {
  const { page } = one;
  await put(server, world.team, world.bot7.key, [["/live/undone", "good\n"]]);
  await one.open("/feed?prefix=/live/undone");
  await isLive();
  await put(server, world.team, world.bot7.key, [["/live/undone", "bad\n"]]);
  const row = page.locator(".feed-row").filter({ hasText: "v2" });
  await row.getByRole("button", { name: "undo" }).click();
  await page.getByText("Undone.").waitFor();
  assert.equal((await entryAt(server, world.team, "/live/undone")).content, "good\n");
});
