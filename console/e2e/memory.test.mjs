// One memory from its making to its end: create, edit, pin, importance, tags, move, delete, undo, many at once; also by keyboard.

import assert from "node:assert/strict";
import { test } from "node:test";
import { settled, stage } from "./support.mjs";
import { entryAt, put, seed } from "./seed.mjs";

const on = stage({ world: seed, page: {} });

const at = async (path) => {
  const entry = await entryAt(on.server, on.world.team, path);
  await on.one.open(`/s/${on.world.team}/m${path}?id=${entry.id}`);
  await settled(on.one.page);
  return entry;
};

const isGone = async (path) => {
  try {
    await entryAt(on.server, on.world.team, path);
    return false;
  } catch {
    return true;
  }
};

test("a memory is written by hand, with its attributes, and a taken path is refused in words", async () => {
  const { page } = on.one;
  await on.one.open(`/s/${on.world.team}/new?prefix=/notes/`);
  await page.getByLabel("Path", { exact: true }).fill("/notes/first");
  await page.getByLabel("Text (Markdown)").fill("# First\n\nRemember *this*.\n");
  await page.getByRole("region", { name: "Preview" }).getByRole("heading", { name: "First" }).waitFor();
  await page.getByLabel("Kind", { exact: true }).fill("fact");
  await page.getByLabel("Tags", { exact: true }).fill("one #two");
  await page.getByLabel("Importance (0 to 100)").fill("65");
  await page.keyboard.press("Control+s");
  await page.getByText("Saved /notes/first").waitFor();
  const entry = await entryAt(on.server, on.world.team, "/notes/first");
  assert.deepEqual([entry.kind, entry.tags, entry.importance, entry.content], ["fact", ["one", "two"], 65, "# First\n\nRemember *this*.\n"]);
  await on.one.open(`/s/${on.world.team}/new`);
  await page.getByLabel("Path", { exact: true }).fill("/notes/first");
  await page.getByRole("button", { name: /^Save/ }).click();
  await page.getByText("Something has this path already").waitFor();
});

test("an edit is a version, and undo brings the one before back", async () => {
  const { page } = on.one;
  const before = await at("/projects/web/token-ttl");
  await page.keyboard.press("e");
  await page.getByLabel("Text (Markdown)").fill("Access tokens live for 30 minutes.\n");
  await page.keyboard.press("Control+s");
  await page.getByText(`Saved v${before.revision + 1}`).waitFor();
  assert.equal((await entryAt(on.server, on.world.team, "/projects/web/token-ttl")).content, "Access tokens live for 30 minutes.\n");
  await page.keyboard.press("u");
  await page.getByText("Undone.").waitFor();
  const after = await entryAt(on.server, on.world.team, "/projects/web/token-ttl");
  assert.equal(after.content, before.content);
  assert.equal(after.revision, before.revision + 2);
});

test("pin, importance and their undo are versions of attributes alone", async () => {
  const { page } = on.one;
  const before = await at("/projects/api/limits");
  await page.keyboard.press("p");
  await page.getByText(`Pinned v${before.revision + 1}`).waitFor();
  assert.equal((await entryAt(on.server, on.world.team, "/projects/api/limits")).pinned, true);
  await page.getByRole("button", { name: "Unpin" }).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Undone.").waitFor();
  const after = await entryAt(on.server, on.world.team, "/projects/api/limits");
  assert.deepEqual([after.pinned, after.content, after.tags], [false, before.content, before.tags]);
});

test("delete and undo: the text is back where it was", async () => {
  const { page } = on.one;
  const before = await at("/decisions/search");
  await page.getByRole("button", { name: "More acts" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByText("Deleted /decisions/search").waitFor();
  await page.getByText("This memory was deleted.").waitFor();
  assert.ok(await isGone("/decisions/search"));
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Undone.").waitFor();
  const after = await entryAt(on.server, on.world.team, "/decisions/search");
  assert.deepEqual([after.content, after.kind, after.tags], [before.content, before.kind, before.tags]);
});

test("what was deleted can be brought back later from its history", async () => {
  const { page } = on.one;
  const before = await at("/projects/api/errors");
  await page.getByRole("button", { name: "More acts" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("button", { name: /^Bring back v/ }).click();
  await page.getByText("Brought back /projects/api/errors").waitFor();
  assert.equal((await entryAt(on.server, on.world.team, "/projects/api/errors")).content, before.content);
});

test("a rename keeps the history, and the page follows", async () => {
  const { page } = on.one;
  await at("/projects/web/colours");
  await page.getByRole("button", { name: "More acts" }).click();
  await page.getByRole("menuitem", { name: "Move or rename" }).click();
  await page.getByRole("dialog").getByLabel("Path", { exact: true }).fill("/projects/web/palette");
  await page.getByRole("dialog").getByRole("button", { name: "Move" }).click();
  await page.getByRole("heading", { name: "palette" }).waitFor();
  await page.waitForURL("**/m/projects/web/palette*");
  assert.ok(await isGone("/projects/web/colours"));
});

test("many at once: tags with a preview, then deletion, then all of it back", async () => {
  const { page } = on.one;
  await on.one.open(`/s/${on.world.team}?path=/log/&sort=path-asc`);
  await settled(page);
  for (const day of ["01", "02", "03"]) await page.getByLabel(`Select /log/day-${day}`).check();
  const bar = page.getByRole("region", { name: "Selected memories" });
  await bar.getByText("3 memories selected").waitFor();
  await bar.getByRole("button", { name: "Tags" }).click();
  await page.getByLabel("Tags to add").fill("reviewed");
  await page.getByRole("dialog").getByText("#reviewed").first().waitFor();
  await page.getByRole("button", { name: "Change 3" }).click();
  await page.getByText("Changed 3 memories").waitFor();
  assert.deepEqual((await entryAt(on.server, on.world.team, "/log/day-02")).tags, ["reviewed"]);
  await settled(page);
  for (const day of ["01", "02"]) await page.getByLabel(`Select /log/day-${day}`).check();
  await bar.getByRole("button", { name: "Delete" }).click();
  await page.getByText("Deleted 2 memories").waitFor();
  assert.ok(await isGone("/log/day-01"));
  await page.keyboard.press("u");
  await page.getByText("Undone: 2 changes.").waitFor();
  assert.deepEqual((await entryAt(on.server, on.world.team, "/log/day-01")).tags, ["reviewed"]);
});

test("a whole directory: the count first, then gone, then back", async () => {
  const { page } = on.one;
  await put(on.server, on.world.team, undefined, [["/bin/a", "a\n"], ["/bin/b/c", "c\n"], ["/bin/b/d", "d\n"]]);
  await on.one.open(`/s/${on.world.team}?path=/bin/`);
  await settled(page);
  await page.getByRole("button", { name: "More acts" }).click();
  await page.getByRole("menuitem", { name: "Delete everything below /bin/" }).click();
  await page.getByRole("dialog").getByText("3 memories, 0 pinned ones among them").waitFor();
  await page.getByRole("button", { name: "Delete 3" }).click();
  await page.getByText("Deleted 3 memories").waitFor();
  assert.ok(await isGone("/bin/b/c"));
  await page.keyboard.press("u");
  await page.getByText("Undone: 3 changes.").waitFor();
  assert.equal((await entryAt(on.server, on.world.team, "/bin/b/c")).content, "c\n");
});

test("by keyboard alone: palette to a store, down the list, open, edit, save", async () => {
  const { page } = on.one;
  await put(on.server, on.world.support, undefined, [["/by/keyboard", "untouched\n"]]);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("store support");
  await page.getByRole("option", { name: "Store support-notes" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "support-notes" }).waitFor();
  await page.getByRole("link", { name: "by/keyboard" }).waitFor();
  await settled(page);
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "keyboard" }).waitFor();
  await settled(page);
  await page.keyboard.press("e");
  await page.getByLabel("Text (Markdown)").waitFor();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("typed without a mouse");
  await page.keyboard.press("Control+s");
  await page.getByText("Saved v2").waitFor();
  assert.equal((await entryAt(on.server, on.world.support, "/by/keyboard")).content, "typed without a mouse");
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor({ state: "detached" });
});
