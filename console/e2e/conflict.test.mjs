// Two write at once: the conflict is shown, both texts are there, and what is saved is what was chosen.

import assert from "node:assert/strict";
import { test } from "node:test";
import { axeInBothThemes, openPage, settled, shot, stage } from "./support.mjs";
import { entryAt, put, seed } from "./seed.mjs";

const on = stage({ world: seed, page: {} });

const edit = async (path, text) => {
  await put(on.server, on.world.team, undefined, [[path, text, { tags: ["kept"] }]]);
  const entry = await entryAt(on.server, on.world.team, path);
  await on.one.open(`/s/${on.world.team}/m${path}?id=${entry.id}`);
  await settled(on.one.page);
  await on.one.page.getByRole("button", { name: /^Edit/ }).click();
  return entry;
};

test("an agent saves during an edit: it is said at once, and both changes end up in the result", async () => {
  const { page } = on.one;
  const path = "/conflict/one";
  await edit(path, "first\nsecond\nthird\n");
  await page.getByLabel("Text (Markdown)").fill("first\nsecond\nthird, by hand\n");
  await put(on.server, on.world.team, on.world.bot7.key, [[path, "first, by bot\nsecond\nthird\n", { tags: ["kept", "bot"] }]]);
  await page.getByRole("alert").getByText("bot-7 saved v2 while you edit v1").waitFor();
  await page.getByRole("button", { name: "Merge" }).click();
  const dialog = page.getByRole("dialog", { name: "v2 was saved while you edited v1" });
  await dialog.getByText("The changes do not touch each other").waitFor();
  await dialog.getByRole("button", { name: "Save as v3" }).click();
  await page.getByText("Saved v3").waitFor();
  const saved = await entryAt(on.server, on.world.team, path);
  assert.equal(saved.content, "first, by bot\nsecond\nthird, by hand\n");
  assert.deepEqual(saved.tags, ["kept", "bot"]);
});

test("the same line twice: a save is refused, nothing is lost, and the choice is saved", async () => {
  const { page } = on.one;
  const path = "/conflict/two";
  await edit(path, "title\nrun deploy.sh\nend\n");
  await page.getByLabel("Text (Markdown)").fill("title\nrun ./deploy.sh\nend\n");
  await page.getByLabel("Importance (0 to 100)").fill("70");
  await put(on.server, on.world.team, on.world.bot7.key, [[path, "title\nrun deploy.sh -q\nend\n", { importance: 20 }]]);
  await page.keyboard.press("Control+s");
  const dialog = page.getByRole("dialog", { name: "v2 was saved while you edited v1" });
  const conflict = dialog.getByRole("group", { name: "Conflict 1 of 1" });
  await conflict.getByText("run deploy.sh -q").waitFor();
  await conflict.getByText("run ./deploy.sh", { exact: true }).waitFor();
  assert.equal(await dialog.getByRole("button", { name: "Save as v3" }).isDisabled(), true);
  await axeInBothThemes(page, "the merge");
  await shot(page, "merge-light");
  await page.emulateMedia({ colorScheme: "dark" });
  await shot(page, "merge-dark");
  await page.emulateMedia({ colorScheme: "light" });
  await conflict.getByRole("button", { name: "Both" }).click();
  await dialog.getByRole("button", { name: /^Theirs: 20/ }).click();
  await dialog.getByRole("button", { name: "Save as v3" }).click();
  await page.getByText("Saved v3").waitFor();
  const saved = await entryAt(on.server, on.world.team, path);
  assert.equal(saved.content, "title\nrun deploy.sh -q\nrun ./deploy.sh\nend\n");
  assert.equal(saved.importance, 20);
});

test("two people at once: the second sees the first's text before anything is written over it", async () => {
  const path = "/conflict/three";
  const entry = await edit(path, "shared line\n");
  const two = await openPage(on.browser, on.server);
  await two.signIn(on.world.ana.key);
  await two.open(`/s/${on.world.team}/m${path}?id=${entry.id}`);
  await settled(two.page);
  await two.page.getByRole("button", { name: /^Edit/ }).click();
  await on.one.page.getByLabel("Text (Markdown)").fill("from the first\n");
  await two.page.getByLabel("Text (Markdown)").fill("from the second\n");
  await on.one.page.getByRole("button", { name: /^Save/ }).click();
  await on.one.page.getByText("Saved v2").waitFor();
  await two.page.getByRole("button", { name: /^Save/ }).click();
  const dialog = two.page.getByRole("dialog", { name: "v2 was saved while you edited v1" });
  await dialog.getByText("from the first").first().waitFor();
  assert.equal((await entryAt(on.server, on.world.team, path)).content, "from the first\n");
  await dialog.getByRole("button", { name: "Mine" }).click();
  await dialog.getByRole("button", { name: "Save as v3" }).click();
  await two.page.getByText("Saved v3").waitFor();
  assert.equal((await entryAt(on.server, on.world.team, path)).content, "from the second\n");
  await two.calm();
  await two.close();
});

test("undo after somebody else wrote is refused in words, and changes nothing", async () => {
  const { page } = on.one;
  const path = "/conflict/four";
  await edit(path, "a\n");
  await page.getByLabel("Text (Markdown)").fill("b\n");
  await page.getByRole("button", { name: /^Save/ }).click();
  await page.getByText("Saved v2").waitFor();
  await put(on.server, on.world.team, on.world.bot7.key, [[path, "c\n"]]);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("was changed by somebody since").waitFor();
  assert.equal((await entryAt(on.server, on.world.team, path)).content, "c\n");
});
