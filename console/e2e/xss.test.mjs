// Strings that would like to be code, in every field that somebody can write: they are text, on every view.

import assert from "node:assert/strict";
import { test } from "node:test";
import { api, openPage, settled, stage } from "./support.mjs";
import { agent, grant, put } from "./seed.mjs";

const PAYLOADS = [
  "<img src=x onerror=window.hit=1>",
  "<svg onload=window.hit=1>",
  "<script>window.hit=1</script>",
  "\"><b onmouseover=window.hit=1>x",
  "</textarea><script>window.hit=1</script>",
  "{{constructor.constructor('window.hit=1')()}}",
  "__proto__",
];

const TEXT = `${PAYLOADS.join("\n\n")}

[one](javascript:window.hit=1) [two](JaVa\tScript:window.hit=1) [three](data:text/html,<script>window.hit=1</script>) [four](vbscript:hit)
[five][ref] ![six](//elsewhere.example/x.png) <https://fine.example/>

[ref]: javascript:window.hit=1

> - *nested **[deep](javascript:window.hit=1)***

\u202Eright to left\u200Bzero width \u001b[31mansi

${"x".repeat(20_000)}
`;

async function strange(server) {
  const evil = await agent(server, PAYLOADS[0].slice(0, 60));
  const store = await api(server, "POST", "/v1/memory_stores", { name: PAYLOADS[1], description: PAYLOADS[2] });
  const slug = (text) => text.replace(/[^a-z]/g, "").slice(0, 20) || "x";
  await grant(server, store.id, evil.id, "readwrite");
  const entries = PAYLOADS.map((payload, index) => [`/${index}/${payload.replaceAll("/", "_")}`, TEXT, { tags: [`t${index}`], kind: slug(payload), source: payload, scope: payload, summary: payload, metadata: { [payload]: payload, __proto__x: payload } }]);
  await put(server, store.id, evil.key, entries);
  await put(server, store.id, evil.key, entries.map(([path, content, attributes]) => [path, `${content}\nonce more`, attributes]));
  await put(server, store.id, evil.key, [["/people/a", `<Img> works at <svg onload=window.hit=1>. Ana works at ${PAYLOADS[0]}. Ana lives in Lisbon.`]]);
  await api(server, "POST", "/v1/sessions", { agent: "agent_x", environment_id: "env_x", title: PAYLOADS[0], resources: [{ type: "memory_store", memory_store_id: store.id }] });
  // A reason, which stays in the audit log.
  const [old] = (await api(server, "GET", `/v1/memory_stores/${store.id}/history?limit=100`)).data.filter((version) => version.revision === 1 && version.path !== "/people/a");
  await api(server, "POST", `/v1/memory_stores/${store.id}/redactions`, { memory_version_ids: [old.id], reason: PAYLOADS[0], dry_run: false });
  const { data } = await api(server, "GET", `/v1/memory_stores/${store.id}/entries?limit=100&prefix=/0/`);
  return { evil, store: store.id, memory: data[0] };
}

const on = stage({ world: strange });

test("no string becomes code, an element or a request, on any view", async () => {
  const one = await openPage(on.browser, on.server);
  const { page } = one;
  await one.signIn();
  const { store, memory, evil } = on.world;
  const echo = encodeURIComponent(PAYLOADS[0]);
  const at = (tab) => `/s/${store}/m${memory.path.split("/").map(encodeURIComponent).join("/")}?id=${memory.id}${tab}`;
  const views = [
    "/",
    `/s/${store}`,
    `/s/${store}?path=${echo}&kind=${echo}&tag=${echo}&source=${echo}&as_of=${echo}`,
    at(""),
    at("&tab=history"),
    at("&tab=access"),
    at(`&tab=access&who=${echo}`),
    at("&tab=links"),
    `/search?q=${echo}&kind=${echo}&tag=${echo}`,
    "/search?q=onerror+script+window",
    `/feed?actor=${echo}&prefix=${echo}`,
    "/feed",
    "/overview",
    `/s/${store}/knowledge`,
    `/s/${store}/knowledge?about=${echo}&tab=graph`,
    `/s/${store}/context`,
    `/s/${store}/context?tab=full`,
    "/agents?kind=all",
    `/agents/${evil.id}`,
    `/access?who=${echo}`,
    "/audit",
    "/keys",
    "/sessions",
    `/s/${store}/hygiene`,
    `/s/${store}/hygiene?check=largest`,
    `/s/${store}/revert?actor=${evil.keyId}&since=2026-01-01T00:00:00Z`,
    `/s/${store}/settings`,
    `/nowhere/${echo}`,
  ];
  for (const view of views) {
    await page.goto(one.at(view));
    await page.locator("main").waitFor();
    await settled(page);
    const found = await page.evaluate(() => ({
      hit: window.hit,
      images: document.querySelectorAll("img, iframe, object, embed, main script, svg[onload], [onerror], [onmouseover]").length,
      links: [...document.querySelectorAll("a[href]")].map((link) => link.protocol).filter((protocol) => !["http:", "https:", "mailto:"].includes(protocol)),
    }));
    assert.deepEqual(found, { hit: undefined, images: 0, links: [] }, view);
    await one.calm();
  }
  await page.goto(one.at(at("")));
  await page.getByText(PAYLOADS[2]).first().waitFor();
  assert.ok((await page.locator(".md").textContent()).includes("\\u{202e}right to left\\u{200b}zero width \\u{1b}[31mansi"));
  await page.keyboard.press("e");
  await page.getByLabel("Text (Markdown)").waitFor();
  assert.equal(await page.evaluate(() => window.hit), undefined);
  await one.calm();
  await one.close();
});

test("error texts of the server are text too", async () => {
  const one = await openPage(on.browser, on.server);
  const { page } = one;
  await one.signIn();
  await page.route("**/v1/api_keys", (route) => route.fulfill({ status: 500, contentType: "application/json", body: JSON.stringify({ type: "error", error: { type: "api_error", message: PAYLOADS[0] } }) }));
  await one.open("/keys");
  await page.getByText(PAYLOADS[0]).waitFor();
  assert.equal(await page.evaluate(() => window.hit), undefined);
  await one.calm();
  await one.close();
});
