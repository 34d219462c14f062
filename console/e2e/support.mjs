// What every browser test needs: a real server of its own, a browser, a page that fails on anything unexpected, axe.
//
// LOCI_BIN names the binary (../../target/debug/loci when not given), CHROMIUM the browser; LOCI_E2E_ASSETS=disk takes the page from
// crates/console/assets instead of the binary, for work on the page alone. Nothing is downloaded, nothing outside
// of this machine is asked: a request to another origin, an error on the console or a violation of the policy fails the test.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, afterEach, before, beforeEach } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { chromium } from "playwright-core";
import { serve } from "../dev.mjs";
import { withPalette } from "./png.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
export const SHOTS = join(HERE, "..", "..", "docs", "console");
export const ADMIN_KEY = "admin-key-of-the-browser-tests-000";
const BINARY = process.env.LOCI_BIN ?? join(HERE, "..", "..", "target", "debug", "loci");
const BETA = { "anthropic-beta": "agent-memory-2026-07-22" };
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Starts the binary; returns when it listens, with where that is and how to end it. */
async function launch(data, listen, settings) {
  const child = spawn(BINARY, ["serve", "--data", data, "--listen", listen, ...settings], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, LOCI_ADMIN_KEY: ADMIN_KEY },
  });
  let said = "";
  const origin = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`the server did not start: ${said}`));
    }, 120_000);
    const hear = (chunk) => {
      said += chunk;
      const found = /listening on (http:\/\/\S+)/.exec(said);
      if (!found) return;
      clearTimeout(timer);
      resolve(found[1]);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
  });
  const end = () =>
    new Promise((resolve) => {
      if (child.exitCode !== null) return resolve();
      child.once("exit", resolve);
      child.kill("SIGTERM");
    });
  return { origin, end };
}

/** A server on a free port with an empty directory; `restart` ends and starts it at the same place, `stop` ends it and takes the directory away. */
export async function startServer(options = {}) {
  const data = mkdtempSync(join(tmpdir(), "loci-console-"));
  const settings = options.config ? ["--config", join(data, "loci.toml")] : [];
  if (options.config) writeFileSync(join(data, "loci.toml"), options.config);
  let running = await launch(data, "127.0.0.1:0", settings);
  const front = process.env.LOCI_E2E_ASSETS === "disk" ? await serve({ target: new URL(running.origin) }) : null;
  return {
    origin: front ? `http://127.0.0.1:${front.address().port}` : running.origin,
    data,
    /** `meanwhile` runs while nothing listens. */
    restart: async (meanwhile = async () => undefined) => {
      await running.end();
      await meanwhile();
      running = await launch(data, new URL(running.origin).host, settings);
    },
    stop: async () => {
      front?.closeAllConnections();
      front?.close();
      await running.end();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** What `loci console` prints for a server on this machine. */
export async function oneTimeLink(server) {
  const { stdout } = await promisify(execFile)(BINARY, ["console", "--data", server.data]);
  return stdout.trim();
}

/** Calls the API as a program would; refuses to go on when the answer is not a success. */
export async function api(server, method, path, body, key = ADMIN_KEY, headers = {}) {
  const response = await fetch(server.origin + path, {
    method,
    headers: { authorization: `Bearer ${key}`, ...BETA, ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
  return text === "" ? null : JSON.parse(text);
}

export async function startBrowser() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}

/** A page of its own browser context, watched. `allow` are patterns of console messages that a test provokes on purpose. */
export async function openPage(browser, server, options = {}) {
  const context = await browser.newContext({
    viewport: options.viewport ?? { width: 1280, height: 800 },
    colorScheme: options.theme ?? "light",
    reducedMotion: "reduce",
    locale: "en-GB",
    timezoneId: "UTC",
  });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: server.origin });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const faults = [];
  page.on("console", (message) => {
    if (message.type() !== "error" && !/content security policy/i.test(message.text())) return;
    // A refused request is reported by the browser; whether it was right is for the test to say.
    if (/Failed to load resource/.test(message.text())) return;
    if ((options.allow ?? []).some((pattern) => pattern.test(message.text()))) return;
    faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.stack ?? error.message}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol !== "data:" && url.protocol !== "blob:" && url.origin !== server.origin) faults.push(`request to ${url.origin}`);
  });
  await page.addInitScript(() => {
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) => window.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
  });
  return {
    page,
    context,
    at: (path) => `${server.origin}/console${path}`,
    /** Signs in through the form, as people do. */
    signIn: async (key = ADMIN_KEY, path = "/") => {
      await page.goto(`${server.origin}/console${path}`);
      await page.getByLabel("Key", { exact: true }).fill(key);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("navigation", { name: "Console" }).or(page.getByRole("button", { name: "Menu" })).first().waitFor();
    },
    open: async (path) => {
      await page.goto(`${server.origin}/console${path}`);
      await page.locator("main h1").first().waitFor();
    },
    /** Nothing unexpected happened; asked at the end of every test. */
    calm: async () => {
      const violations = await page.evaluate(() => window.violations ?? []);
      assert.deepEqual([...faults, ...violations.map((one) => `policy: ${one}`)], []);
    },
    close: () => context.close(),
  };
}

/**
 * What all tests of a file stand on: a server, a browser, what `world(server)` made on it; and with `page` (options of `openPage`) for
 * each test a page where the administrator is signed in, looked at for faults at the end.
 */
export function stage({ world, page, server: options } = {}) {
  const on = {};
  before(async () => {
    on.server = await startServer(options);
    on.browser = await startBrowser();
    on.world = await world?.(on.server);
  });
  after(async () => {
    await on.browser?.close();
    await on.server?.stop();
  });
  if (page) {
    beforeEach(async () => {
      on.one = await openPage(on.browser, on.server, page);
      await on.one.signIn();
    });
    afterEach(async () => {
      await on.one.calm();
      await on.one.close();
    });
  }
  return on;
}

/** Accessibility: nothing serious or critical by axe, WCAG 2.2 AA. Runs in an isolated world, so the page's policy stays as it is. */
export async function axe(page, what, only = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]) {
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send("Page.getFrameTree");
  const { executionContextId } = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id, worldName: "axe" });
  await session.send("Runtime.evaluate", { expression: AXE, contextId: executionContextId });
  const { result, exceptionDetails } = await session.send("Runtime.evaluate", {
    expression: `axe.run(document, { runOnly: ${JSON.stringify(only)} })
      .then((found) => JSON.stringify(found.violations.filter((one) => one.impact === "serious" || one.impact === "critical")
      .map((one) => one.id + ": " + one.help + " at " + one.nodes.slice(0, 3).map((node) => node.target.join(" ") + " " + (node.any[0]?.message ?? "")).join(" | "))))`,
    contextId: executionContextId,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  assert.equal(exceptionDetails, undefined, exceptionDetails?.exception?.description);
  assert.deepEqual(JSON.parse(result.value), [], `axe on ${what}`);
}

/** The same in light and in dark, where only colours differ. */
export async function axeInBothThemes(page, what) {
  await axe(page, `${what}, light`);
  await page.emulateMedia({ colorScheme: "dark" });
  await axe(page, `${what}, dark`, ["color-contrast"]);
  await page.emulateMedia({ colorScheme: "light" });
}

/** Waits until nothing is loading any more. */
export async function settled(page) {
  await page.waitForFunction(() => document.querySelectorAll("[aria-busy=true], .old").length === 0);
}

/** A picture for docs/console, when they are wanted (LOCI_SCREENSHOTS). */
export async function shot(page, name) {
  if (!process.env.LOCI_SCREENSHOTS) return;
  mkdirSync(SHOTS, { recursive: true });
  writeFileSync(join(SHOTS, `${name}.png`), withPalette(await page.screenshot({ animations: "disabled" })));
}
