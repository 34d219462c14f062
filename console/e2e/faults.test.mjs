// When things go wrong: slow, refused, broken, gone. The page says so, keeps what was typed, and goes on by itself.

import assert from "node:assert/strict";
import { test } from "node:test";
import { axeInBothThemes, settled, shot, stage } from "./support.mjs";
import { entryAt, seed } from "./seed.mjs";

const on = stage({ world: seed, page: { allow: [/net::ERR/] } });

const refuse = (status, body) => (route) => route.fulfill({ status, contentType: "application/json", headers: { "request-id": "req_of_a_test" }, body });

test("a failure names the request and can be tried again", async () => {
  const { page } = on.one;
  await page.route("**/v1/api_keys", refuse(500, JSON.stringify({ type: "error", error: { type: "api_error", message: "the disk said no" } })));
  await on.one.open("/keys");
  await page.getByText("the disk said no").waitFor();
  await page.getByText("req_of_a_test").waitFor();
  await axeInBothThemes(page, "a failure");
  await shot(page, "failure-light");
  await page.unroute("**/v1/api_keys");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("cell", { name: /^bot-7 key/ }).waitFor();
});

test("an answer that is not JSON is said, not swallowed", async () => {
  const { page } = on.one;
  await page.route("**/console/stores", refuse(200, "<html>proxy"));
  await on.one.open("/");
  await page.getByText("the answer is not JSON").waitFor();
});

test("a refused save keeps the draft, over a reload too", async () => {
  const { page } = on.one;
  const entry = await entryAt(on.server, on.world.team, "/decisions/database");
  await on.one.open(`/s/${on.world.team}/m/decisions/database?id=${entry.id}`);
  await settled(page);
  await page.keyboard.press("e");
  await page.getByLabel("Text (Markdown)").fill("a long thought\n");
  for (const [status, message] of [[429, "too often"], [507, "the disk is full"]]) {
    await page.route("**/edits", refuse(status, JSON.stringify({ type: "error", error: { type: "api_error", message } })));
    await page.getByRole("button", { name: /^Save/ }).click();
    await page.getByText(message).waitFor();
    assert.equal(await page.getByLabel("Text (Markdown)").inputValue(), "a long thought\n");
    await page.unroute("**/edits");
  }
  await page.reload();
  await page.getByLabel("Text (Markdown)").waitFor();
  assert.equal(await page.getByLabel("Text (Markdown)").inputValue(), "a long thought\n");
  await page.getByRole("button", { name: "Discard" }).click();
  await page.reload();
  await page.getByRole("button", { name: /^Edit/ }).waitFor();
});

test("offline is a banner, old rows stay, and the feed comes back by itself", async () => {
  const { page } = on.one;
  await on.one.open("/");
  await page.getByRole("link", { name: "team-a" }).waitFor();
  await on.one.context.setOffline(true);
  await page.keyboard.press("g");
  await page.keyboard.press("k");
  await page.getByText("The server cannot be reached.").first().waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.getByRole("link", { name: "team-a" }).waitFor();
  await on.one.context.setOffline(false);
  await page.locator(".live-on").waitFor();
});

test("slow is said to be slow", async () => {
  const { page } = on.one;
  let release;
  const gate = new Promise((resolve) => (release = resolve));
  await page.route("**/v1/api_keys", async (route) => {
    await gate;
    await route.continue();
  });
  await on.one.open("/keys");
  await page.getByText("Still waiting for the server.").waitFor();
  release();
  await page.getByRole("cell", { name: /^bot-7 key/ }).waitFor();
});
