// Granting and revoking while the other one is signed in, the explanation of both, and an administrator's borrowed eyes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { axeInBothThemes, openPage, settled, stage } from "./support.mjs";
import { seed } from "./seed.mjs";

const on = stage({ world: seed });

test("a grant opens a store for an agent that is signed in, and revoking closes it at once", async () => {
  const admin = await openPage(on.browser, on.server);
  await admin.signIn();
  const bot = await openPage(on.browser, on.server);
  await bot.signIn(on.world.bot2.key);
  await settled(bot.page);
  assert.equal(await bot.page.getByRole("link", { name: "people", exact: true }).count(), 0);

  await admin.open(`/s/${on.world.people}/access?who=bot-2`);
  await admin.page.getByText("bot-2 cannot see this store").waitFor();
  await admin.page.getByRole("button", { name: "Grant access" }).click();
  const dialog = admin.page.getByRole("dialog", { name: "Grant access" });
  await dialog.getByLabel("To whom").fill("bot-2");
  await dialog.getByLabel("How much").selectOption("read");
  await axeInBothThemes(admin.page, "granting");
  await dialog.getByRole("button", { name: "Grant", exact: true }).click();
  await admin.page.getByText("bot-2 can read").waitFor();
  await admin.page.getByText(/granted by/).first().waitFor();

  await bot.open("/");
  await bot.page.getByRole("link", { name: "people", exact: true }).click();
  await bot.page.getByRole("link", { name: "ana/work" }).waitFor();
  assert.equal(await bot.page.getByRole("button", { name: "New memory" }).count(), 0);

  await admin.page.getByRole("button", { name: "Revoke this grant" }).click();
  await admin.page.getByText("bot-2 cannot see this store").waitFor();
  await bot.page.reload();
  await bot.page.getByText("Nothing here, or you may not see it.").first().waitFor();

  await admin.page.getByRole("button", { name: "Undo" }).last().click();
  await admin.page.getByText("bot-2 can read").waitFor();
  await bot.page.reload();
  await bot.page.getByRole("link", { name: "ana/work" }).waitFor();
  await admin.calm();
  await bot.calm();
  await admin.close();
  await bot.close();
});

test("search alone finds and does not browse", async () => {
  const bot = await openPage(on.browser, on.server);
  await bot.signIn(on.world.bot7.key);
  await bot.open(`/s/${on.world.support}`);
  await bot.page.getByText("You may search this store but not browse it.").waitFor();
  await axeInBothThemes(bot.page, "a store that may only be searched");
  await bot.page.getByRole("button", { name: "Search in it" }).click();
  await bot.page.getByLabel("What to find").fill("login loop");
  await bot.page.keyboard.press("Enter");
  await bot.page.getByRole("link", { name: "/login/loop", exact: true }).waitFor();
  await bot.calm();
  await bot.close();
});

test("an administrator sees what an agent sees, and can change nothing meanwhile", async () => {
  const admin = await openPage(on.browser, on.server);
  await admin.signIn();
  await admin.open(`/agents/${on.world.bot2.id}`);
  await settled(admin.page);
  await admin.page.getByRole("button", { name: "View as bot-2" }).click();
  await admin.page.getByText("You see what bot-2 would get").waitFor();
  await admin.page.getByRole("link", { name: "team-a", exact: true }).first().click();
  await admin.page.getByRole("link", { name: "decisions/database" }).waitFor();
  assert.equal(await admin.page.getByRole("button", { name: "New memory" }).count(), 0);
  await admin.page.getByRole("button", { name: "See as yourself" }).click();
  await admin.page.getByRole("button", { name: "New memory" }).waitFor();
  await admin.calm();
  await admin.close();
});

test("a switch of an agent's memory works from the page, and back", async () => {
  const admin = await openPage(on.browser, on.server);
  await admin.signIn();
  await admin.open(`/agents/${on.world.bot7.id}`);
  const chats = admin.page.getByRole("switch", { name: /^Chats/ });
  await chats.click();
  await admin.page.getByText("chat is off.").waitFor();
  assert.equal(await chats.isChecked(), false);
  await admin.page.getByRole("button", { name: "Undo" }).click();
  await admin.page.waitForFunction(() => [...document.querySelectorAll("[role=switch]")].every((one) => one.checked));
  await admin.calm();
  await admin.close();
});
