// The budgets on a large store and a busy feed, at a CPU that is 4 times slower where they say so: first rows, what is sent for them, what
// moves meanwhile; keys, places and 5,000 rows; the main thread at 500 changes a second, and what stays in memory. Times are what the
// page's own main thread used, so that other work on the machine, and the server's, does not count; for a slower CPU they are multiplied,
// as the browser's own brake takes more the busier the machine is. What a core that is shared takes more of that for fixed work, the budgets
// are wider by. What the clock says is printed.
// LOCI_E2E_MEMORIES says how large the store is (100,000 when not given).

import assert from "node:assert/strict";
import { test } from "node:test";
import { median, meter, pageOwn, painted, percentile, rounded, slowness, traced } from "./measure.mjs";
import { api, openPage, settled, stage } from "./support.mjs";
import { importPast } from "./seed.mjs";

const MEMORIES = Number(process.env.LOCI_E2E_MEMORIES ?? 100_000);
const FEED_SECONDS = 10;
const SLOWER = 4;
const RATE = 500;
const LOADED = 5000;

async function large(server) {
  const store = (await api(server, "POST", "/v1/memory_stores", { name: "large", description: "" })).id;
  const [key] = (await api(server, "GET", "/v1/api_keys")).data;
  const start = Date.now() - 30 * 86_400_000;
  const rows = Array.from({ length: MEMORIES }, (_, number) => ({ path: `/part-${number % 50}/item-${number}`, text: `Item ${number} was seen.`, attributes: { kind: "fact" }, at: start + number * 20_000, by: key.id }));
  await importPast(server, store, rows);
  return { store };
}

// Vectors of all these would take long and show nothing more.
const on = stage({ world: large, server: { config: '[search]\nembedder = "none"\n' } });

/** Keeps, in the page, when its first rows were painted, its largest paint, and how far things moved by themselves. */
const watchFirstRows = () => {
  window.moved = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => (window.moved += entry.hadRecentInput ? 0 : entry.value))).observe({ type: "layout-shift", buffered: true });
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => (window.largestAt = entry.startTime))).observe({ type: "largest-contentful-paint", buffered: true });
  new MutationObserver((_, watch) => {
    if (!document.querySelector("tbody tr")) return;
    watch.disconnect();
    requestAnimationFrame(() => setTimeout(() => (window.paintedAt = performance.now())));
  }).observe(document, { childList: true, subtree: true });
};

test(`a store of ${MEMORIES} memories: few requests, small answers, rows after 1.5 s at most with a CPU 4 times slower, and nothing moves`, async () => {
  const one = await openPage(on.browser, on.server);
  const { page } = one;
  const { store } = on.world;
  await one.signIn();
  await settled(page);
  const { session, read } = await meter(page);
  const answers = [];
  page.on("response", (response) => {
    const path = new URL(response.url()).pathname;
    if (!path.startsWith("/console/assets/") && path !== "/console/events" && response.request().resourceType() === "fetch") answers.push(response);
  });
  // The second visit is the usual one: scripts are in the cache, data is not.
  await one.open(`/s/${store}`);
  await page.locator("tbody tr").first().waitFor();
  await page.addInitScript(watchFirstRows);
  const visit = async () => {
    answers.length = 0;
    await page.goto("about:blank");
    const before = pageOwn(await read());
    await page.goto(one.at(`/s/${store}`), { waitUntil: "commit" });
    await page.waitForFunction(() => window.paintedAt !== undefined);
    const passed = await page.evaluate(() => window.paintedAt);
    const worked = (pageOwn(await read()) - before) * 1000;
    await settled(page);
    await painted(page);
    return { passed, worked, ...(await page.evaluate(() => ({ largest: window.largestAt, moved: window.moved }))) };
  };
  await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
  const braked = [await visit(), await visit(), await visit()];
  await session.send("Emulation.setCPUThrottlingRate", { rate: 1 });
  const visits = [];
  for (let turn = 0; turn < 5; turn += 1) visits.push(await visit());
  const sizes = await Promise.all(answers.map(async (answer) => [new URL(answer.url()).pathname, (await answer.body()).length]));
  // What the main thread did until the largest paint, task by task.
  const largest = [];
  for (let turn = 0; turn < 3; turn += 1) {
    const { tasks, moments } = await traced(on.browser, page, visit);
    const until = moments("largestContentfulPaint::Candidate").at(-1);
    largest.push(tasks.filter((task) => task.at <= until).reduce((sum, task) => sum + task.own, 0));
  }
  const of = (name) => (some) => rounded(some.map((one) => one[name]));
  const worked = visits.map((one) => one.worked);
  const moved = [...braked, ...visits].map((one) => one.moved);
  console.log(`the main thread worked ${rounded(worked)} ms for the first rows, which came after ${of("passed")(visits)} ms; with the browser's brake after ${of("passed")(braked)} ms; ${JSON.stringify(sizes)}`);
  console.log(`it worked ${rounded(largest)} ms for the largest paint, which came after ${of("largest")(visits)} ms; with the brake after ${of("largest")(braked)} ms; things moved by ${moved.map((one) => one.toFixed(4)).join(", ")}`);
  assert.ok([...worked, ...largest].every((time) => time > 0));
  const slow = await slowness(on.browser);
  assert.ok(median(worked) * SLOWER <= 1500 * slow, `the main thread worked ${worked} ms`);
  assert.ok(median(largest) * SLOWER <= 1200 * slow, `the main thread worked ${largest} ms for the largest paint`);
  // As it is usually counted: three of four visits at or below.
  assert.ok(percentile(moved, 75) <= 0.02, `things moved by ${moved}`);
  assert.ok(sizes.filter(([path]) => path !== "/console/names").length <= 5, `${sizes.length} requests`);
  for (const [path, bytes] of sizes) assert.ok(bytes <= 200 * 1024, `${path} has ${bytes} bytes`);
  await page.getByRole("button", { name: "Load more" }).click();
  await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 200);
  await one.calm();
  await one.close();
});

test("going from place to place and back takes the page 150 ms at most", async () => {
  const one = await openPage(on.browser, on.server);
  const { page } = one;
  await one.signIn();
  await settled(page);
  const { during } = await meter(page);
  const rail = page.getByRole("navigation", { name: "Console" });
  const steps = [
    ["the list", () => page.getByRole("link", { name: "large", exact: true }).first().click(), "tbody a.path"],
    ["a memory", () => page.locator("tbody a.path").first().click(), ".tabs"],
    ["its history", () => page.keyboard.press("h"), ".history"],
    ["the feed", () => rail.getByRole("link", { name: "Feed" }).click(), ".feed-row"],
    ["the search", () => page.keyboard.press("/"), "main input[type=search]"],
    ["the stores", () => rail.getByRole("link", { name: "Stores" }).click(), "tbody tr"],
  ];
  const times = new Map();
  // The first round loads the views; the others are the usual ones, and the best of them is what the page needs.
  for (const round of [1, 2, 3, 4]) {
    for (const [name, step, shown] of steps) {
      const took = await during(async () => {
        await step();
        await page.locator(shown).first().waitFor();
        await painted(page);
      });
      await settled(page);
      const best = times.get(name);
      if (round > 1 && !(best?.worked <= took.worked)) times.set(name, took);
    }
  }
  console.log(`the main thread worked ${[...times].map(([name, { worked, passed }]) => `${Math.round(worked)} ms for ${name} (${Math.round(passed)} ms by the clock)`).join(", ")}`);
  const slow = await slowness(on.browser);
  assert.equal(times.size, steps.length);
  for (const [name, { worked }] of times) assert.ok(worked > 0 && worked <= 150 * slow, `${name}: ${worked} ms`);
  await one.calm();
  await one.close();
});

test(`${LOADED} loaded rows: keys answer within 100 ms and scrolling has 50 frames a second`, async () => {
  const one = await openPage(on.browser, on.server);
  const { page } = one;
  await one.signIn();
  await one.open(`/s/${on.world.store}`);
  for (let rows = 100; rows <= LOADED; rows += 100) {
    await page.waitForFunction((wanted) => document.querySelectorAll("tbody tr").length === wanted, rows);
    if (rows < LOADED) await page.getByRole("button", { name: "Load more" }).click();
  }
  await settled(page);
  await page.evaluate(() => {
    window.presses = [];
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => entry.name === "keydown" && window.presses.push(entry.duration))).observe({ type: "event", durationThreshold: 16 });
  });
  const { during } = await meter(page);
  const pressed = [];
  for (const key of [..."jjjjjjjjjjkkkkkjjjjjxjxjkkkkkjjjjjjjjjjjj"]) {
    pressed.push(
      await during(async () => {
        await page.keyboard.press(key);
        await painted(page);
      }),
    );
  }
  const own = percentile(pressed.map((one) => one.worked), 95);
  const seen = await page.evaluate(() => window.presses);
  const frames = 60;
  // Pixels a frame: a notch of a wheel in each, 6,000 in a second.
  const step = 100;
  const scrolls = [];
  // The best of five, as other programs run here too and push the page out of the CPU's caches.
  for (const turn of [1, 2, 3, 4, 5]) {
    const took = await during(() =>
      page.evaluate(async ([frames, step]) => {
        const start = performance.now();
        for (let frame = 0; frame < frames; frame += 1) {
          await new Promise((resolve) => requestAnimationFrame(resolve));
          window.scrollBy(0, step);
        }
        window.scrolledIn = performance.now() - start;
      }, [frames, step]),
    );
    const [to, passed] = await page.evaluate(() => [window.scrollY, window.scrolledIn]);
    assert.ok(to >= turn * frames * step * 0.6, `scrolled to ${to}`);
    scrolls.push({ own: took.worked / frames, rate: (frames / passed) * 1000 });
  }
  const frame = Math.min(...scrolls.map((one) => one.own));
  console.log(`a key takes the main thread ${own.toFixed(1)} ms at the 95th percentile (${rounded([percentile(seen.length ? seen : [0], 95)])} ms by the clock to the paint); scrolling takes ${scrolls.map((one) => one.own.toFixed(1)).join(", ")} ms a frame, ${rounded(scrolls.map((one) => one.rate))} frames a second by the clock`);
  assert.ok(await page.locator("tr.is-current").count(), "the keys moved the current row");
  assert.equal(await page.locator("tr.is-selected").count(), 2);
  const slow = await slowness(on.browser);
  assert.ok(own > 0 && own <= 100 * slow, `a key takes ${own} ms`);
  assert.ok(frame > 0 && frame <= (1000 / 50) * slow, `a frame takes ${frame} ms`);
  await one.calm();
  await one.close();
});

test("a feed of 500 changes a second leaves the main thread free", async () => {
  const one = await openPage(on.browser, on.server);
  const { page } = one;
  await one.signIn();
  await one.open("/feed");
  await page.locator(".live-on").waitFor();
  const { read } = await meter(page);
  const first = await read();
  const start = performance.now();
  const passed = () => (performance.now() - start) / 1000;
  let sent = 0;
  while (passed() < FEED_SECONDS) {
    const due = Math.floor(passed() * RATE) - sent;
    if (due >= 50) {
      const edits = Array.from({ length: due }, (_, at) => ({ op: "put", path: `/busy/${(sent + at) % 300}`, content: `change ${sent + at}` }));
      await api(on.server, "POST", `/v1/memory_stores/${on.world.store}/edits`, { edits });
      sent += due;
    } else await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const last = await read();
  const took = passed();
  const spent = (name) => (last[name] - first[name]).toFixed(2);
  // A server that is slow itself sends fewer in a second; what counts is what 500 cost.
  const share = (pageOwn(last) - pageOwn(first)) / (sent / RATE);
  console.log(`${sent} changes in ${took.toFixed(1)} s; at 500 a second the main thread is busy ${(share * 100).toFixed(0)}%: script ${spent("ScriptDuration")} s, style ${spent("RecalcStyleDuration")} s, layout ${spent("LayoutDuration")} s; heap ${Math.round((last.JSHeapUsedSize - first.JSHeapUsedSize) / 1024)} KiB more`);
  assert.ok(share <= 0.3 * (await slowness(on.browser)), `at 500 a second the main thread is busy ${(share * 100).toFixed(0)}% of the time`);
  // The last change is to be seen, and not more rows than there may be.
  await page.locator(".feed").getByText(`/busy/${(sent - 1) % 300}`, { exact: true }).first().waitFor();
  assert.ok((await page.locator(".feed-row").count()) <= 1000);
  await one.calm();
  await one.close();
});

/** The rows of one store as they stand, newest first: numbers of changes, and gaps by what they leave out. */
const feedRows = (page) =>
  page.locator(".feed > li").evaluateAll((rows) => rows.filter((row) => row.dataset.seq || row.dataset.until).map((row) => (row.dataset.seq ? { seq: Number(row.dataset.seq) } : { after: Number(row.dataset.after), until: Number(row.dataset.until) })));

/** Fails unless each change follows the one above it, or a gap says which are between. */
function assertUnbroken(rows) {
  let expected = null;
  for (const row of rows) {
    const first = row.seq ?? row.until;
    if (expected !== null) assert.equal(first, expected, `after ${JSON.stringify(rows.slice(0, 3))} …`);
    expected = row.seq === undefined ? row.after : row.seq - 1;
  }
}

test("10,000 changes at once: in order, each once, and what was left out is a row that can be loaded; 20,000 more leave memory as it was", async () => {
  const one = await openPage(on.browser, on.server);
  const { page } = one;
  await one.signIn();
  const made = (await api(on.server, "POST", "/v1/memory_stores", { name: "burst", description: "" })).id;
  await one.open(`/feed?store=${made}`);
  await page.locator(".live-on").waitFor();
  let written = 0;
  const write = async (count) => {
    const edits = Array.from({ length: count }, (_, at) => ({ op: "put", path: `/burst/${at % 2500}`, content: `change ${written + at}` }));
    for (let at = 0; at < count; at += 2500) await api(on.server, "POST", `/v1/memory_stores/${made}/edits`, { edits: edits.slice(at, at + 2500) });
    written += count;
  };
  const isThere = () => page.locator(`.feed > li:is([data-seq="${written}"], [data-until="${written}"])`).waitFor();
  const start = performance.now();
  await write(10_000);
  await isThere();
  console.log(`10,000 changes were written and seen in ${((performance.now() - start) / 1000).toFixed(1)} s`);
  const older = page.getByRole("button", { name: /^show .* older$/ });
  if (await older.count()) await older.click();
  const rows = await feedRows(page);
  assert.ok(rows.length <= 1000);
  assertUnbroken(rows);
  // More than the stream brings at once: the newest of what was left out comes by a click, and the rest stays a gap.
  const left = rows.find((row) => row.until !== undefined);
  assert.ok(left, "10,000 at once leave a gap");
  await page.locator(".feed-gap[data-until]").first().getByRole("button", { name: "load" }).click();
  await page.locator(`.feed-row[data-seq="${left.until}"]`).waitFor();
  if (await older.count()) await older.click();
  assertUnbroken(await feedRows(page));
  // Looking for them scrolled down, which pauses.
  await page.locator(".sticky-note").getByRole("button", { name: "Resume" }).click();
  const { heap } = await meter(page);
  const before = await heap();
  // As many at once as the stream brings without a gap.
  for (let turn = 0; turn < 25; turn += 1) {
    await write(800);
    await page.locator(`.feed-row[data-seq="${written}"]`).waitFor();
  }
  const grown = (await heap()) - before;
  assertUnbroken(await feedRows(page));
  console.log(`20,000 changes more: the page holds ${Math.round(grown / 1024)} KiB more of ${Math.round(before / 1024)} KiB`);
  assert.ok(grown <= 2 * 1024 * 1024, `the page holds ${grown} bytes more`);
  await one.calm();
  await one.close();
});
