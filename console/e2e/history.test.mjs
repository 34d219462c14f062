// The past: compare, restore, the store as it was, taking back what one actor wrote, and redaction that leaves nothing.

import assert from "node:assert/strict";
import { test } from "node:test";
import { api, axeInBothThemes, settled, shot, stage } from "./support.mjs";
import { agent, entryAt, grant, put, seed } from "./seed.mjs";

const on = stage({ world: seed, page: {} });

const open = async (path, tab) => {
  const entry = await entryAt(on.server, on.world.team, path);
  await on.one.open(`/s/${on.world.team}/m${path}?id=${entry.id}&tab=${tab}`);
  await settled(on.one.page);
  return entry;
};

test("two versions side by side, and an old one restored as a new one", async () => {
  const { page } = on.one;
  const before = await open("/projects/web/deploy", "history");
  const changes = page.getByRole("region", { name: "Changes of the text" });
  await changes.getByText("fifteen").waitFor();
  await page.getByRole("button", { name: "Side by side" }).click();
  await changes.getByText("ten", { exact: true }).waitFor();
  await axeInBothThemes(page, "a diff side by side");
  await page.getByRole("listitem").filter({ hasText: "v1" }).getByRole("button", { name: "restore" }).click();
  await page.getByText(`Restored v1 as v${before.revision + 1}`).waitFor();
  assert.equal((await entryAt(on.server, on.world.team, "/projects/web/deploy")).content, "Run deploy.sh\n");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Undone.").waitFor();
  assert.equal((await entryAt(on.server, on.world.team, "/projects/web/deploy")).content, before.content);
});

test("diffs of odd texts show what they are", async () => {
  const { page } = on.one;
  const long = Array.from({ length: 400 }, (_, line) => `line ${line}`).join("\n");
  for (const [name, first, second, seen] of [
    ["emoji", "hello 👩‍👩‍👧 family\n", "hello 👨‍👩‍👦 family\n", "family"],
    ["crlf", "one\r\ntwo\r\n", "one\ntwo\n", "␍"],
    ["rtl", "abc\n", "abc \u202Eevil\n", "\\u{202e}"],
    ["long", long, long.replace("line 200", "line two hundred"), "two hundred"],
  ]) {
    const path = `/odd/${name}`;
    await put(on.server, on.world.team, undefined, [[path, first]]);
    await put(on.server, on.world.team, undefined, [[path, second]]);
    await open(path, "history");
    await page.getByRole("region", { name: "Changes of the text" }).getByText(seen).first().waitFor();
  }
});

test("the store as it was: a deleted memory is there, nothing can be written, and n is now", async () => {
  const { page } = on.one;
  await put(on.server, on.world.team, undefined, [["/past/gone", "it was here\n"]]);
  const { data } = await api(on.server, "GET", `/v1/memory_stores/${on.world.team}/changes?after=0&limit=1000`);
  const moment = data.at(-1).created_at;
  await api(on.server, "POST", `/v1/memory_stores/${on.world.team}/edits`, { edits: [{ op: "remove", path: "/past/gone" }] });
  await on.one.open(`/s/${on.world.team}?path=/past/&as_of=${encodeURIComponent(moment)}`);
  await page.getByText("Read only. Today's access rules apply").waitFor();
  await page.getByRole("link", { name: "gone" }).click();
  await page.getByText("it was here").waitFor();
  assert.equal(await page.getByRole("button", { name: /^Edit/ }).isDisabled(), true);
  await axeInBothThemes(page, "the past");
  await page.keyboard.press("n");
  await page.getByText("This memory was deleted.").waitFor();
  await on.one.open(`/s/${on.world.team}`);
  await settled(page);
  await page.getByRole("button", { name: "Older" }).click();
  await page.getByText("Read only. Today's access rules apply").waitFor();
  assert.match(page.url(), /as_of=/);
});

test("everything one actor wrote since a time is taken back as one change, and that too", async () => {
  const { page } = on.one;
  const rogue = await agent(on.server, "rogue");
  await grant(on.server, on.world.team, "rogue", "readwrite");
  await put(on.server, on.world.team, undefined, [["/rogue/kept", "good\n"], ["/rogue/shared", "good\n"]]);
  await put(on.server, on.world.team, rogue.key, [["/rogue/kept", "bad\n"], ["/rogue/shared", "bad\n"], ["/rogue/new", "bad\n"]]);
  await put(on.server, on.world.team, undefined, [["/rogue/shared", "repaired by hand\n"]]);
  await on.one.open(`/s/${on.world.team}/revert?actor=${rogue.keyId}&since=${encodeURIComponent(new Date(Date.now() - 3_600_000).toISOString())}`);
  await page.getByText("2 clean, 1 changed since by others (unticked)").waitFor();
  assert.equal(await page.getByLabel("Revert /rogue/shared").isChecked(), false);
  await axeInBothThemes(page, "the revert");
  await shot(page, "revert-light");
  await page.getByRole("button", { name: "Revert 2 as one change" }).click();
  await page.getByText("Reverted 2 memories.").waitFor();
  assert.equal((await entryAt(on.server, on.world.team, "/rogue/kept")).content, "good\n");
  assert.equal((await entryAt(on.server, on.world.team, "/rogue/shared")).content, "repaired by hand\n");
  await assert.rejects(entryAt(on.server, on.world.team, "/rogue/new"));
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Undone: 2 changes.").waitFor();
  assert.equal((await entryAt(on.server, on.world.team, "/rogue/kept")).content, "bad\n");
  assert.equal((await entryAt(on.server, on.world.team, "/rogue/new")).content, "bad\n");
});

test("redaction says what it does, asks for a reason and the path, and leaves nothing of the text", async () => {
  const { page } = on.one;
  const secret = "Harbour Street 12";
  await put(on.server, on.world.team, undefined, [["/people/ana/address", `Ana lives at ${secret}.\n`]]);
  await put(on.server, on.world.team, undefined, [["/people/ana/address", "Ana's address is not kept here.\n"]]);
  await open("/people/ana/address", "history");
  await page.getByRole("listitem").filter({ hasText: "v1" }).getByRole("button", { name: "redact" }).click();
  const dialog = page.getByRole("dialog", { name: "Redact v1 of /people/ana/address?" });
  await dialog.getByText("Nobody can bring it back").waitFor();
  await dialog.getByText("exports and backups made before now").waitFor();
  await axeInBothThemes(page, "redacting");
  await shot(page, "redact-light");
  await page.emulateMedia({ colorScheme: "dark" });
  await shot(page, "redact-dark");
  await page.emulateMedia({ colorScheme: "light" });
  const act = dialog.getByRole("button", { name: "Erase v1" });
  assert.equal(await act.isDisabled(), true);
  await dialog.getByLabel("Reason (needed, kept in the audit log)").fill("address");
  await dialog.getByLabel("Type /people/ana/address to confirm").fill("/people/ana/address");
  await act.click();
  await page.getByText("Redacted v1 of /people/ana/address.").waitFor();
  await page.getByRole("listitem").filter({ hasText: "v1" }).getByText("redacted", { exact: true }).waitFor();
  await settled(page);
  assert.ok(!(await page.content()).includes(secret));
  const exported = await fetch(`${on.server.origin}/v1/export`, { headers: { authorization: `Bearer ${(await import("./support.mjs")).ADMIN_KEY}` } });
  assert.ok(!(await exported.text()).includes(secret));
  const found = await api(on.server, "POST", "/v1/search", { query: `"${secret}"`, mode: "lexical" });
  assert.ok(found.data.every((hit) => !JSON.stringify(hit).includes(secret)));
});

test("the present text cannot be redacted, and the page says what to do instead", async () => {
  const { page } = on.one;
  await open("/decisions/database", "history");
  await page.getByRole("button", { name: "redact" }).first().click();
  await page.getByText("This is the present text of a live memory").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).first().click();
});
