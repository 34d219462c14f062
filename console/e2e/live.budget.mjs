// How soon a change is to be seen: within a second of the server's word that it is written.

import assert from "node:assert/strict";
import { test } from "node:test";
import { stage } from "./support.mjs";
import { put, seed } from "./seed.mjs";

const LIMIT = 1000;

const on = stage({ world: seed, page: {} });

test("a write of an agent is in the feed within a second", async () => {
  const { page } = on.one;
  await on.one.open("/feed");
  await page.locator(".live-on").waitFor();
  // The best of three, as other programs run here too.
  const took = [];
  for (const turn of [1, 2, 3]) {
    const path = `/live/one-${turn}`;
    const shown = page.evaluate(
      (text) =>
        new Promise((resolve) => {
          const look = () => ([...document.querySelectorAll(".feed .path")].some((one) => one.textContent === text) ? resolve(Date.now()) : setTimeout(look, 5));
          look();
        }),
      path,
    );
    await put(on.server, on.world.team, on.world.bot7.key, [[path, "hello\n"]]);
    const written = Date.now();
    took.push((await shown) - written);
  }
  assert.ok(Math.min(...took) <= LIMIT, `${took} ms`);
});
