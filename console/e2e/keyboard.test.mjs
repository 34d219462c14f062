// Without a mouse: signing in, finding out why something was found, taking a memory away and back, giving access and taking it back.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ADMIN_KEY, openPage, settled, stage } from "./support.mjs";
import { entryAt, seed } from "./seed.mjs";

const on = stage({ world: seed });

/** Presses Tab until what has the focus is called so. */
async function tabTo(page, name) {
  for (let turn = 0; turn < 120; turn += 1) {
    await page.keyboard.press("Tab");
    const called = await page.evaluate(() => {
      const one = document.activeElement;
      return one?.getAttribute("aria-label") ?? one?.labels?.[0]?.textContent ?? one?.textContent ?? "";
    });
    if (name.test(called.trim())) return;
  }
  assert.fail(`Tab does not lead to ${name}`);
}

/** A page that nobody clicked in, signed in by typing. */
async function typedIn() {
  const one = await openPage(on.browser, on.server);
  await one.page.goto(one.at("/"));
  await one.page.getByRole("heading", { name: "Sign in to the console" }).waitFor();
  await one.page.keyboard.type(ADMIN_KEY);
  await one.page.keyboard.press("Enter");
  await one.page.getByRole("heading", { name: "Stores" }).waitFor();
  await settled(one.page);
  return one;
}

test("sign in, search, and read why a result is where it is", async () => {
  const one = await typedIn();
  const { page } = one;
  await page.keyboard.press("/");
  await page.getByRole("heading", { name: "Search" }).waitFor();
  await page.keyboard.type("deploy the web app");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "/projects/web/deploy" }).waitFor();
  await settled(page);
  await tabTo(page, /^why\?$/);
  await page.keyboard.press("Enter");
  await page.getByRole("rowheader", { name: "meaning" }).waitFor();
  await one.calm();
  await one.close();
});

test("delete a memory by its menu, and undo", async () => {
  const one = await typedIn();
  const { page } = one;
  const before = await entryAt(on.server, on.world.team, "/decisions/search");
  await one.open(`/s/${on.world.team}/m/decisions/search?id=${before.id}`);
  await settled(page);
  await tabTo(page, /^More acts$/);
  await page.keyboard.press("Enter");
  for (let turn = 0; turn < 20; turn += 1) {
    if ((await page.evaluate(() => document.activeElement?.textContent))?.startsWith("Delete")) break;
    await page.keyboard.press("ArrowDown");
  }
  await page.keyboard.press("Enter");
  await page.getByText("Deleted /decisions/search").waitFor();
  await page.keyboard.press("u");
  await page.getByText("Undone.").waitFor();
  assert.equal((await entryAt(on.server, on.world.team, "/decisions/search")).content, before.content);
  await one.calm();
  await one.close();
});

test("grant access in a dialog that gives the focus back, and revoke", async () => {
  const one = await typedIn();
  const { page } = one;
  await one.open(`/s/${on.world.people}/access?who=bot-2`);
  await page.getByText("bot-2 cannot see this store").waitFor();
  await tabTo(page, /^Grant access$/);
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Grant access" });
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => document.activeElement?.textContent?.trim()), "Grant access");
  await page.keyboard.press("Enter");
  await dialog.waitFor();
  await dialog.getByLabel("To whom").focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("bot-2");
  await page.keyboard.press("Enter");
  await page.getByText(/^bot-2 can /).waitFor();
  await tabTo(page, /^Revoke this grant$/);
  await page.keyboard.press("Enter");
  await page.getByText("bot-2 cannot see this store").waitFor();
  await one.calm();
  await one.close();
});
