// Views that have nothing to show: each says why, and what to do next, in words that axe and both themes accept.

import { test } from "node:test";
import { api, axeInBothThemes, openPage, settled, stage } from "./support.mjs";
import { agent } from "./seed.mjs";

async function bare(server) {
  const store = (await api(server, "POST", "/v1/memory_stores", { name: "bare", description: "" })).id;
  return { store, newcomer: await agent(server, "newcomer", "user") };
}

const on = stage({ world: bare, server: { config: '[search]\nembedder = "none"\n' } });

const views = ({ store, newcomer }) => [
  ["no memory yet", `/s/${store}`, "No memory yet."],
  ["filters that nothing fits", `/s/${store}?kind=fact&tag=none`, "No memory fits these filters."],
  ["no memory at that moment", `/s/${store}?as_of=${new Date(Date.now() + 1000).toISOString()}`, "There was no memory here at that moment."],
  ["nothing known", `/s/${store}/knowledge`, "Nobody and nothing is known yet."],
  ["no facts", `/s/${store}/knowledge?tab=facts`, "No facts with these filters."],
  ["no context", `/s/${store}/context`, "Empty: nothing is known, so nothing is added to a prompt."],
  ["no duplicates", `/s/${store}/hygiene`, "No two memories say the same."],
  ["nothing stale", `/s/${store}/hygiene?check=stale`, "Nothing is stale."],
  ["nobody chosen to revert", `/s/${store}/revert`, "Choose who, and since when."],
  ["nothing to revert", `/s/${store}/revert?actor=${newcomer.id}&since=2020-01-01T00:00:00Z`, "They wrote nothing here in that time"],
  ["no such store", "/s/memstore_01ARZ3NDEKTSV4RRFFQ69G5FAV", "Nothing here, or you may not see it."],
  ["no such page", "/nowhere", "There is no such page."],
  ["no hits", "/search?q=zebra", "Nothing was found."],
  ["a quiet feed", "/feed", "Quiet."],
  ["no stores of that name", "/?q=zebra", "No store has such a name."],
  ["nobody of that kind", "/agents?kind=service&q=zebra", "Nobody here yet."],
  ["nobody asked about", "/access", "Choose somebody."],
  ["no sessions", "/sessions", "No session yet."],
  ["no such event", "/audit?kind=store_removed", "No such event among those that were loaded."],
];

test("every empty view says so, light and dark", async () => {
  const one = await openPage(on.browser, on.server);
  await one.signIn();
  for (const [name, path, words] of views(on.world)) {
    await one.page.goto(one.at(path));
    await one.page.locator("main").getByText(words).first().waitFor();
    await settled(one.page);
    await axeInBothThemes(one.page, name);
  }
  await one.calm();
  await one.close();
});

test("somebody new has no store, and is told how to get one", async () => {
  const one = await openPage(on.browser, on.server);
  await one.signIn(on.world.newcomer.key);
  await one.page.getByText("No store yet.").waitFor();
  await axeInBothThemes(one.page, "no store yet");
  await one.calm();
  await one.close();
});
