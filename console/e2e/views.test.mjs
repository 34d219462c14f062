// Every view, light and dark, wide and 360 px: it loads, axe finds nothing serious, nothing is wider than the screen, and a
// picture of it goes to docs/console.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { axe, openPage, settled, shot, stage } from "./support.mjs";
import { entryAt, seed } from "./seed.mjs";

const on = stage({ world: seed });
let views;

before(async () => {
  const deploy = await entryAt(on.server, on.world.team, "/projects/web/deploy");
  const memory = (tab) => `/s/${on.world.team}/m/projects/web/deploy?id=${deploy.id}${tab ? `&tab=${tab}` : ""}`;
  views = [
    ["stores", "/"],
    ["browse", `/s/${on.world.team}?sort=path-asc`],
    ["memory", memory("")],
    ["history", memory("history")],
    ["access", `${memory("access")}&who=bot-2`],
    ["links", `/s/${on.world.people}/m/ana/work?tab=links`],
    ["new-memory", `/s/${on.world.team}/new`],
    ["search", "/search?q=how+do+we+deploy+the+web+app"],
    ["feed", "/feed"],
    ["overview", "/overview"],
    ["entities", `/s/${on.world.people}/knowledge`],
    ["facts", `/s/${on.world.people}/knowledge?tab=facts`],
    ["graph", `/s/${on.world.people}/knowledge?tab=graph`],
    ["context", `/s/${on.world.people}/context`],
    ["brief", `/s/${on.world.team}/context?tab=index`],
    ["agents", "/agents"],
    ["agent", `/agents/${on.world.bot7.id}`],
    ["duplicates", `/s/${on.world.support}/hygiene`],
    ["stale", `/s/${on.world.team}/hygiene?check=stale`],
    ["largest", `/s/${on.world.team}/hygiene?check=largest`],
    ["secrets", `/s/${on.world.support}/hygiene?check=secrets`],
    ["never-recalled", `/s/${on.world.team}/hygiene?check=never_recalled`],
    ["access-of-one", "/access?who=bot-7"],
    ["audit", "/audit"],
    ["keys", "/keys"],
    ["sessions", "/sessions"],
    ["session", `/sessions/${on.world.session}`],
    ["health", "/health"],
    ["revert", `/s/${on.world.team}/revert?actor=${on.world.bot7.keyId}&since=2026-01-01T00:00:00Z`],
    ["settings", `/s/${on.world.team}/settings`],
  ];
});

for (const theme of ["light", "dark"]) {
  test(`every view is calm and accessible, ${theme}`, async () => {
    const one = await openPage(on.browser, on.server, { theme });
    await one.signIn();
    for (const [name, path] of views) {
      await one.open(path);
      await settled(one.page);
      assert.equal(await one.page.locator(".state-failed").count(), 0, `${name} could not be read`);
      await axe(one.page, `${name}, ${theme}`);
      await shot(one.page, `${name}-${theme}`);
      await one.calm();
    }
    await one.close();
  });
}

test("every view fits 360 px, and the menu opens there", async () => {
  const one = await openPage(on.browser, on.server, { viewport: { width: 360, height: 740 } });
  await one.signIn();
  await one.page.getByRole("button", { name: "Menu" }).click();
  await one.page.getByRole("navigation", { name: "Console" }).getByRole("link", { name: "Feed" }).click();
  await one.page.getByRole("heading", { name: "Feed" }).waitFor();
  for (const [name, path] of views) {
    await one.open(path);
    await settled(one.page);
    const width = await one.page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 360, `${name} is ${width} px wide`);
    await axe(one.page, `${name}, 360 px`);
    if (["stores", "browse", "memory", "search"].includes(name)) await shot(one.page, `${name}-360`);
  }
  await one.calm();
  await one.close();
});

test("why a result is where it is, the palette, and the keys", async () => {
  const one = await openPage(on.browser, on.server);
  const { page } = one;
  await one.signIn();
  await one.open("/search?q=deploy+web");
  await settled(page);
  await page.getByRole("button", { name: "why?" }).first().click();
  await page.getByRole("rowheader", { name: "meaning" }).waitFor();
  await axe(page, "an explanation");
  await shot(page, "why-light");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Search or jump" }).waitFor();
  await page.keyboard.type("feed");
  await axe(page, "the palette");
  await shot(page, "palette-light");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Feed" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("k");
  await page.getByRole("heading", { name: "Keys" }).waitFor();
  await one.calm();
  await one.close();
});
