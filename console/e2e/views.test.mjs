// Every view, light and dark, wide, 360 px and at 400 %: it loads, axe finds nothing serious, nothing is wider than the screen, and a
// picture of it goes to docs/console.

import assert from "node:assert/strict";
import { test } from "node:test";
import { api, axe, axeInBothThemes, openPage, settled, shot, stage } from "./support.mjs";
import { entryAt, seed } from "./seed.mjs";

/** The world, and every view of it by its name. */
async function shown(server) {
  const world = await seed(server);
  for (const query of ["how do we deploy the web app", "token lifetime", "login loop", "who prefers calm colours", "on call", "refund", "oldest Android"]) {
    for (const who of [world.bot7, world.bot2, world.ana]) await api(server, "POST", "/v1/search", { query }, who.key);
  }
  const deploy = await entryAt(server, world.team, "/projects/web/deploy");
  const memory = (tab) => `/s/${world.team}/m/projects/web/deploy?id=${deploy.id}${tab ? `&tab=${tab}` : ""}`;
  const views = [
    ["stores", "/"],
    ["browse", `/s/${world.team}?sort=path-asc`],
    ["memory", memory("")],
    ["history", memory("history")],
    ["access", `${memory("access")}&who=bot-2`],
    ["links", `/s/${world.people}/m/ana/work?tab=links`],
    ["new-memory", `/s/${world.team}/new`],
    ["search", "/search?q=how+do+we+deploy+the+web+app"],
    ["feed", "/feed"],
    ["overview", "/overview"],
    ["entities", `/s/${world.people}/knowledge`],
    ["facts", `/s/${world.people}/knowledge?tab=facts`],
    ["graph", `/s/${world.people}/knowledge?tab=graph`],
    ["context", `/s/${world.people}/context`],
    ["brief", `/s/${world.team}/context?tab=index`],
    ["agents", "/agents"],
    ["agent", `/agents/${world.bot7.id}`],
    ["duplicates", `/s/${world.support}/hygiene`],
    ["stale", `/s/${world.team}/hygiene?check=stale`],
    ["largest", `/s/${world.team}/hygiene?check=largest`],
    ["secrets", `/s/${world.support}/hygiene?check=secrets`],
    ["never-recalled", `/s/${world.team}/hygiene?check=never_recalled`],
    ["access-of-one", "/access?who=bot-7"],
    ["audit", "/audit"],
    ["keys", "/keys"],
    ["sessions", "/sessions"],
    ["session", `/sessions/${world.session}`],
    ["health", "/health"],
    ["revert", `/s/${world.team}/revert?actor=${world.bot7.keyId}&since=${new Date(Date.now() - 2 * 86_400_000).toISOString()}`],
    ["settings", `/s/${world.team}/settings`],
  ];
  return { ...world, views };
}

const on = stage({ world: shown });

/** Controls that lie beside the screen, where no scrolling leads; what has its own bar for scrolling may be wider. */
const outOfReach = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("main :is(a, button, input, select, textarea), header :is(a, button)")]
      .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest(".sr"))
      .filter((one) => {
        const { left, right } = one.getBoundingClientRect();
        const scroller = one.closest(".scroll, .tabs, pre, .tree, table:not(.cards-narrow)");
        return (left < -1 || right > innerWidth + 1) && !scroller;
      })
      .map((one) => one.outerHTML.slice(0, 120)),
  );

test("every view is calm and accessible, light, dark, at 360 px and at 400 %, where nothing is wider than the screen", async () => {
  const one = await openPage(on.browser, on.server);
  const { page } = one;
  await one.signIn();
  for (const [name, path] of on.world.views) {
    await page.setViewportSize({ width: 1280, height: 800 });
    await one.open(path);
    await settled(page);
    assert.equal(await page.locator(".state-failed").count(), 0, `${name} could not be read`);
    if (name === "new-memory") await page.getByLabel("Text (Markdown)").fill("# Release on Thursdays\n\nReleases go out on **Thursday** mornings, so that Friday is left for mending.\n\n- freeze: Wednesday, 18:00\n- on call: bot-7, then Ana\n");
    await axe(page, `${name}, light`);
    await shot(page, `${name}-light`);
    // The same elements in other colours.
    await page.emulateMedia({ colorScheme: "dark" });
    await axe(page, `${name}, dark`, ["color-contrast"]);
    await shot(page, `${name}-dark`);
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 360, height: 740 });
    await axe(page, `${name}, 360 px`);
    if (["stores", "browse", "memory", "search"].includes(name)) await shot(page, `${name}-360`);
    // A window of 1280 by 1024 at 400 %.
    await page.setViewportSize({ width: 320, height: 256 });
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 320, `${name} is ${width} px wide`);
    assert.deepEqual(await outOfReach(page), [], `${name} at 320 px`);
    await one.calm();
  }
  await one.close();
});

test("on a small screen the menu opens, leads on and closes", async () => {
  const one = await openPage(on.browser, on.server, { viewport: { width: 360, height: 740 } });
  await one.signIn();
  await one.page.getByRole("button", { name: "Menu" }).click();
  const menu = one.page.getByRole("navigation", { name: "Console" });
  await axe(one.page, "the menu, 360 px");
  await menu.getByRole("link", { name: "Feed" }).click();
  await one.page.getByRole("heading", { name: "Feed" }).waitFor();
  await menu.waitFor({ state: "hidden" });
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
  await axeInBothThemes(page, "an explanation");
  await shot(page, "why-light");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Search or jump" }).waitFor();
  await page.keyboard.type("feed");
  await axeInBothThemes(page, "the palette");
  await shot(page, "palette-light");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Feed" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("k");
  await page.getByRole("heading", { name: "Keys" }).waitFor();
  await one.calm();
  await one.close();
});
