// Colours that the reader forces on the page (Windows' contrast themes): focus, the chosen and the selected can still be told from the
// rest. Looked at as pixels, because whatever the styles say, a ground that is forced away is not seen.

import assert from "node:assert/strict";
import { test } from "node:test";
import { axe, openPage, settled, stage } from "./support.mjs";
import { seed } from "./seed.mjs";

const on = stage({ world: seed });

async function forced() {
  const one = await openPage(on.browser, on.server);
  await one.page.emulateMedia({ forcedColors: "active", reducedMotion: "reduce" });
  await one.signIn();
  await one.open(`/s/${on.world.team}?sort=path-asc`);
  await settled(one.page);
  assert.ok(await one.page.evaluate(() => matchMedia("(forced-colors: active)").matches));
  return one;
}

/** Fails unless `act` changes how the place of an element looks, a little around it included. */
async function looksOtherwise(page, target, what, act) {
  await target.scrollIntoViewIfNeeded();
  const picture = async () => {
    const box = await target.boundingBox();
    return page.screenshot({ clip: { x: Math.max(0, box.x - 4), y: Math.max(0, box.y - 4), width: box.width + 8, height: box.height + 8 }, animations: "disabled" });
  };
  const before = await picture();
  assert.ok(before.equals(await picture()), `${what} does not hold still`);
  await act();
  assert.ok(!before.equals(await picture()), `${what} cannot be seen`);
}

test("focus can be seen on links, buttons, fields and boxes", async () => {
  const one = await forced();
  const { page } = one;
  const targets = [
    ["a link of the rail", page.getByRole("navigation", { name: "Console" }).getByRole("link", { name: "Feed" })],
    ["a button", page.getByRole("button", { name: "Search in it" })],
    ["a field", page.getByLabel("Tag", { exact: true })],
    ["a choice", page.getByLabel("Order")],
    ["a box", page.getByLabel("Select all that are shown")],
    ["a path", page.locator("tbody a.path").first()],
    ["a directory", page.getByRole("navigation", { name: "Directories" }).getByRole("link").nth(1)],
  ];
  for (const [what, target] of targets) {
    await page.evaluate(() => document.activeElement?.blur?.());
    await looksOtherwise(page, target, `focus on ${what}`, async () => {
      // The keyboard was used last, so the browser shows where the focus is.
      await page.keyboard.press("Shift");
      await target.focus();
    });
  }
  await one.calm();
  await one.close();
});

test("the current row, selected rows, the open place and the chosen line of the palette can be seen", async () => {
  const one = await forced();
  const { page } = one;
  const row = page.locator("tbody tr").first();
  await looksOtherwise(page, row, "the current row", () => page.keyboard.press("j"));
  // Beside its box, which shows it anyway.
  await looksOtherwise(page, row.locator("td.wide"), "a selected row", () => page.keyboard.press("x"));
  await page.keyboard.press("Escape");
  const rail = page.getByRole("navigation", { name: "Console" });
  await looksOtherwise(page, rail.getByRole("link", { name: "Feed" }), "the open place", async () => {
    await page.keyboard.press("g");
    await page.keyboard.press("f");
    await page.getByRole("heading", { name: "Feed" }).waitFor();
  });
  await one.open("/overview");
  await settled(page);
  const choice = page.getByRole("group", { name: "How far back" }).getByRole("button", { name: "7 days" });
  await looksOtherwise(page, choice, "a choice", async () => {
    await choice.click();
    await settled(page);
    await page.evaluate(() => document.activeElement?.blur?.());
    await page.mouse.move(0, 0);
  });
  await page.keyboard.press("Control+k");
  const second = page.getByRole("option").nth(1);
  await second.waitFor();
  await looksOtherwise(page, second, "the chosen line of the palette", () => page.keyboard.press("ArrowDown"));
  await axe(page, "the palette with forced colours");
  await one.calm();
  await one.close();
});
