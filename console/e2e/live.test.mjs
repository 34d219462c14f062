// Changes as they happen: in order, once; paused and resumed; over a restart of the server. How soon is in live.budget.mjs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { settled, stage } from "./support.mjs";
import { entryAt, put, seed } from "./seed.mjs";

const on = stage({ world: seed, page: {} });

const isLive = () => on.one.page.locator(".live-on").waitFor();

test("a write of an agent comes into the feed by itself", async () => {
  const { page } = on.one;
  await on.one.open("/feed");
  await isLive();
  for (const path of ["/live/one", "/live/two"]) {
    await put(on.server, on.world.team, on.world.bot7.key, [[path, "hello\n"]]);
    await page.locator(".feed .path", { hasText: path }).waitFor();
  }
});

test("a list and an open memory follow by themselves", async () => {
  const { page } = on.one;
  await on.one.open(`/s/${on.world.team}`);
  await settled(page);
  await isLive();
  await put(on.server, on.world.team, on.world.bot7.key, [["/live/listed", "hello\n"]]);
  await page.getByRole("link", { name: "live/listed" }).waitFor();
  const entry = await entryAt(on.server, on.world.team, "/live/listed");
  await on.one.open(`/s/${on.world.team}/m/live/listed?id=${entry.id}`);
  await settled(page);
  await isLive();
  await put(on.server, on.world.team, on.world.bot7.key, [["/live/listed", "hello again\n"]]);
  await page.getByText("hello again").waitFor();
});

test("paused, nothing moves; resumed, everything is there in order and once", async () => {
  const { page } = on.one;
  await on.one.open(`/feed?prefix=/burst/`);
  await isLive();
  await page.getByRole("button", { name: /^Pause/ }).click();
  const writes = Array.from({ length: 60 }, (_, number) => [`/burst/${String(number).padStart(2, "0")}`, `${number}\n`]);
  for (let at = 0; at < writes.length; at += 20) await put(on.server, on.world.team, on.world.bot7.key, writes.slice(at, at + 20));
  await page.getByText("60 new changes waiting").waitFor();
  assert.equal(await page.locator(".feed-row").count(), 0);
  await page.locator(".sticky-note").getByRole("button", { name: "Resume" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".feed-row").length === 60);
  const paths = await page.locator(".feed-row .path").allTextContents();
  assert.deepEqual(paths, writes.map(([path]) => path).reverse());
});

test("undo from the feed takes back what an agent just wrote", async () => {
  const { page } = on.one;
  await put(on.server, on.world.team, on.world.bot7.key, [["/live/undone", "good\n"]]);
  await on.one.open("/feed?prefix=/live/undone");
  await isLive();
  await put(on.server, on.world.team, on.world.bot7.key, [["/live/undone", "bad\n"]]);
  const row = page.locator(".feed-row").filter({ hasText: "v2" });
  await row.getByRole("button", { name: "undo" }).click();
  await page.getByText("Undone.").waitFor();
  assert.equal((await entryAt(on.server, on.world.team, "/live/undone")).content, "good\n");
});

test("over a restart of the server nothing is missed, nothing comes twice, and the order stays", async () => {
  const { page } = on.one;
  const paths = Array.from({ length: 40 }, (_, number) => `/over/${String(number).padStart(2, "0")}`);
  const write = (some) => put(on.server, on.world.team, on.world.bot7.key, some.map((path) => [path, "still here\n"]));
  await on.one.open("/feed?prefix=/over/");
  await isLive();
  await write(paths.slice(0, 10));
  await page.waitForFunction(() => document.querySelectorAll(".feed-row").length === 10);
  await on.server.restart(async () => {
    await page.locator(".live-lost").waitFor();
    assert.equal(await page.locator(".feed-row").count(), 10);
  });
  // Before the page is back, so that only its place in the stream can bring these.
  await write(paths.slice(10, 30));
  await isLive();
  await write(paths.slice(30));
  // What comes in the order of the feed has come when the last has.
  const last = "/over/the-last";
  await write([last]);
  await page.locator(".feed-row .path", { hasText: last }).waitFor();
  assert.deepEqual(await page.locator(".feed-row .path").allTextContents(), [last, ...paths.toReversed()]);
});
