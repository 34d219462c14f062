// What administrators make and end by hand: a store, an agent, a key.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ADMIN_KEY, api, axeInBothThemes, settled, stage } from "./support.mjs";
import { seed } from "./seed.mjs";

const on = stage({ world: seed, page: {} });

test("a store is made, described and archived", async () => {
  const { page } = on.one;
  await on.one.open("/");
  await page.getByRole("button", { name: "New store" }).click();
  const dialog = page.getByRole("dialog", { name: "New store" });
  assert.equal(await dialog.getByRole("button", { name: "Make it" }).isDisabled(), true);
  await dialog.getByLabel("Name", { exact: true }).fill("by-hand");
  await axeInBothThemes(page, "making a store");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "by-hand" }).waitFor();
  await page.getByText("No memory yet.").waitFor();
  const id = /\/s\/([^/?]+)/.exec(page.url())[1];
  await on.one.open(`/s/${id}/settings`);
  await settled(page);
  await page.getByLabel("Description", { exact: true }).fill("Made by hand");
  await page.getByRole("button", { name: "Save" }).click();
  await page.waitForFunction(() => [...document.querySelectorAll("button")].some((one) => one.textContent?.trim() === "Save" && one.disabled));
  assert.equal((await api(on.server, "GET", `/v1/memory_stores/${id}`)).description, "Made by hand");
  await page.getByRole("button", { name: "Archive" }).click();
  const confirm = page.getByRole("dialog");
  await confirm.getByRole("textbox").fill("by-hand");
  await confirm.getByRole("button", { name: /rchive/ }).click();
  await confirm.waitFor({ state: "detached" });
  assert.ok((await api(on.server, "GET", `/v1/memory_stores/${id}`)).archived_at);
});

test("an agent and its key are made; the secret is shown once, opens, and is revoked by typing its name", async () => {
  const { page } = on.one;
  await on.one.open("/agents");
  await page.getByRole("button", { name: "New agent" }).click();
  await page.getByRole("dialog", { name: "New agent" }).getByLabel("Name", { exact: true }).fill("made-here");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "made-here" }).waitFor();
  await on.one.open("/keys");
  await settled(page);
  await page.getByRole("button", { name: "New key" }).click();
  const dialog = page.getByRole("dialog", { name: "New key" });
  await dialog.getByLabel("Name", { exact: true }).fill("by hand");
  await dialog.getByLabel("Acts for").fill("made-here");
  await axeInBothThemes(page, "making a key");
  await dialog.getByRole("button", { name: "Make it" }).click();
  const made = page.getByRole("dialog", { name: "The key is made" });
  const secret = await made.locator(".secret code").textContent();
  await axeInBothThemes(page, "a key that was made");
  assert.equal((await api(on.server, "GET", "/v1/whoami", undefined, secret)).principal.name, "made-here");
  await made.getByRole("button", { name: "I have kept it" }).click();
  await made.waitFor({ state: "detached" });
  assert.ok(!(await page.content()).includes(secret));
  await page.getByRole("button", { name: "Revoke by hand" }).click();
  const confirm = page.getByRole("dialog", { name: "Revoke by hand?" });
  const act = confirm.getByRole("button", { name: "Revoke this key" });
  assert.equal(await act.isDisabled(), true);
  await confirm.getByRole("textbox").fill("by hand");
  await act.click();
  await page.getByText("by hand opens nothing any more.").waitFor();
  await assert.rejects(api(on.server, "GET", "/v1/whoami", undefined, secret), /401/);
});

test("a key ends with the session that made it, unless one's own key is shown again", async () => {
  const { page } = on.one;
  await on.one.open("/keys");
  await settled(page);
  const make = async (name, own) => {
    await page.getByRole("button", { name: "New key" }).click();
    const dialog = page.getByRole("dialog", { name: "New key" });
    await dialog.getByLabel("Name", { exact: true }).fill(name);
    assert.equal(await dialog.getByLabel(/^Days/).isDisabled(), true);
    for (const key of own) {
      await dialog.getByLabel("Your own key").fill(key);
      await dialog.getByRole("button", { name: "Make it" }).click();
      if (key !== own.at(-1)) await dialog.getByRole("alert").waitFor();
    }
    if (own.length === 0) await dialog.getByRole("button", { name: "Make it" }).click();
    const made = page.getByRole("dialog", { name: "The key is made" });
    await made.getByRole("button", { name: "I have kept it" }).click();
    await made.waitFor({ state: "detached" });
    return (await api(on.server, "GET", "/v1/api_keys")).data.find((one) => one.name === name);
  };
  const passing = await make("for now", []);
  assert.ok(passing.console_session);
  assert.ok(Date.parse(passing.expires_at) < Date.now() + 13 * 3_600_000);
  await page.getByText("ends when its maker signs out").waitFor();
  const lasting = await make("for long", ["not-a-key-of-anybody", ADMIN_KEY]);
  assert.equal(lasting.console_session, null);
  assert.ok(Date.parse(lasting.expires_at) > Date.now() + 89 * 86_400_000);
  assert.ok(!(await page.content()).includes(ADMIN_KEY));
});
