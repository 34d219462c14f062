// What a page cost, by its own main thread and not by the clock: other programs on the machine, and the server, then do not count.

export const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

/** The value that so many of a hundred stay at or below. */
export const percentile = (values, part) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.ceil((part / 100) * values.length) - 1)];

export const rounded = (times) => times.map(Math.round).join(", ");

/** Seconds of the main thread without what this test made it do. */
export const pageOwn = (metrics) => metrics.TaskDuration - metrics.DevToolsCommandDuration;

/** What the main thread of a page did so far, in seconds of its own. */
export async function meter(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const read = async () => Object.fromEntries((await session.send("Performance.getMetrics")).metrics.map((metric) => [metric.name, metric.value]));
  return {
    session,
    read,
    /** Milliseconds of the page's own for some work, and by the clock. */
    during: async (work) => {
      const before = pageOwn(await read());
      const start = performance.now();
      await work();
      const passed = performance.now() - start;
      return { worked: (pageOwn(await read()) - before) * 1000, passed };
    },
    /** Bytes that scripts hold once everything that nobody needs is gone. */
    heap: async () => {
      await session.send("HeapProfiler.collectGarbage");
      await session.send("HeapProfiler.collectGarbage");
      return (await read()).JSHeapUsedSize;
    },
  };
}

/** Milliseconds of a main thread for the work below on the machine that the budgets were set for, with nothing beside it. */
const REFERENCE_MS = 200;

/**
 * How many times as long as on that machine work takes here and now, from 1 to 3: a core that is shared with another program, and caches
 * that are, take more of a thread's own time for the same work.
 */
export async function slowness(browser) {
  const page = await browser.newPage();
  const { during } = await meter(page);
  const times = [];
  for (let turn = 0; turn < 7; turn += 1) {
    const took = await during(() =>
      page.evaluate(
        () =>
          // In a task of the page: what the test itself evaluates does not count.
          new Promise((resolve) =>
            setTimeout(() => {
              const table = document.body.appendChild(document.createElement("table"));
              for (let row = 0; row < 1500; row += 1) for (let cell = 0, line = table.insertRow(); cell < 5; cell += 1) line.insertCell().textContent = `cell ${cell} of row ${row}`;
              const words = Array.from({ length: 20_000 }, (_, at) => String((at * 7919) % 20_011)).sort();
              resolve(table.offsetHeight + words.length);
              table.remove();
            }),
          ),
      ),
    );
    times.push(took.worked);
  }
  await page.close();
  const slow = Math.min(3, Math.max(1, median(times) / REFERENCE_MS));
  console.log(`fixed work took ${rounded(times)} ms of a main thread: budgets are held ${slow.toFixed(2)} times as wide`);
  return slow;
}

/** Waits until what was drawn last is on the screen. */
export const painted = (page) => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));

/**
 * Every task of the page's main thread while `work` runs, in milliseconds of that thread (`own`) and of the clock (`took`), with its
 * moment, and the moments of other events by name.
 */
export async function traced(browser, page, work) {
  await browser.startTracing(page, { screenshots: false, categories: ["toplevel", "loading", "disabled-by-default-devtools.timeline"] });
  await work();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const mains = traceEvents.filter((event) => event.name === "thread_name" && event.args.name === "CrRendererMain").map((event) => `${event.pid} ${event.tid}`);
  const byThread = new Map(mains.map((thread) => [thread, []]));
  for (const event of traceEvents) byThread.get(`${event.pid} ${event.tid}`)?.push(event);
  const isTask = (event) => event.name === "RunTask" && event.tdur !== undefined;
  const total = (events) => events.filter(isTask).reduce((sum, event) => sum + (event.tdur ?? 0), 0);
  const busiest = [...byThread.values()].sort((a, b) => total(b) - total(a))[0] ?? [];
  const tasks = busiest.filter(isTask).map((event) => ({ at: event.ts, took: event.dur / 1000, own: event.tdur / 1000 }));
  return { tasks, moments: (name) => busiest.filter((event) => event.name === name).map((event) => event.ts) };
}
