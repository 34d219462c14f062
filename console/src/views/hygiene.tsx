// What deserves a look: memories that say the same, that nobody touched or recalled, that are large, or that hold a secret.

import { useState } from "preact/hooks";
import * as api from "../api/routes";
import type { DuplicateGroup, Entry, HygieneRow } from "../api/types";
import { removeEntries, setAttributes } from "../memory/acts";
import { usePages, useQuery } from "../state/query";
import { href, memoryPlace, storePlace, usePlace, withQuery } from "../state/router";
import { mayEdit, useStore } from "../state/stores";
import { attempt } from "../state/toasts";
import { bytes, plural, seen } from "../text/format";
import { Badge, Button, Kind, Time } from "../ui/basics";
import { Tabs } from "../ui/dialog";
import { Head, More } from "../ui/page";
import { Empty, Failed, Loaded, Waiting } from "../ui/states";

const CHECKS: Record<string, [string, string, string]> = {
  duplicates: ["Duplicates", "Memories that say the same, or nearly.", "No two memories say the same."],
  stale: ["Stale", "Longest without a change, and not pinned.", "Nothing is stale."],
  largest: ["Largest", "The biggest memories; they fill contexts first.", "There is nothing here."],
  secrets: ["Secrets", "Text that looks like a key, token or password. What was found is masked.", "No text looks like a secret."],
  never_recalled: ["Never recalled", "Written, but never part of an answer.", "Everything has been recalled."],
};

export function Hygiene({ store }: { store: string }) {
  const row = useStore(store);
  const { query } = usePlace();
  const check = CHECKS[query.get("check") ?? ""] ? (query.get("check") ?? "duplicates") : "duplicates";
  return (
    <>
      <Head title="Hygiene" crumbs={[{ text: "Stores", to: "/" }, { text: row?.name ?? "Store", to: storePlace(store) }]} note={CHECKS[check]?.[1]} />
      <Tabs label="Checks" current={check} items={Object.entries(CHECKS).map(([id, [text]]) => ({ id, text, href: href(withQuery({ check: id })) }))} />
      {check === "duplicates" ? <Duplicates store={store} mayChange={mayEdit(row)} /> : <Check key={check} store={store} check={check} mayChange={mayEdit(row)} />}
    </>
  );
}

function Check({ store, check, mayChange }: { store: string; check: string; mayChange: boolean }) {
  const [since, setSince] = useState<string | null>(null);
  const pages = usePages<HygieneRow>(`${store} ${check}`, async (page) => {
    const answer = await api.hygiene(store, check, page);
    setSince(answer.known_since ?? null);
    return answer;
  });
  const [chosen, setChosen] = useState<Set<string>>(new Set());
  const picked = pages.rows.map((row) => row.entry).filter((entry) => chosen.has(entry.id));
  const run = (act: (entries: Entry[]) => Promise<unknown>) => async () => {
    const isDone = await attempt(async () => void (await act(picked)), "Nothing was changed");
    if (!isDone) return;
    setChosen(new Set());
    pages.again();
  };
  if (pages.error) return <Failed error={pages.error} again={pages.again} what="The check" />;
  if (pages.isLoading && pages.rows.length === 0) return <Waiting />;
  if (pages.rows.length === 0) return <Empty title={CHECKS[check]?.[2] ?? "Nothing."} />;
  return (
    <>
      {check === "never_recalled" && since && (
        <p class="note">
          Recalls are counted since <Time at={since} />.
        </p>
      )}
      <table class="table cards-narrow">
        <caption class="sr">{CHECKS[check]?.[0]}</caption>
        <thead>
          <tr>
            {mayChange && (
              <th scope="col">
                <span class="sr">Select</span>
              </th>
            )}
            <th scope="col">Path</th>
            <th scope="col">Why</th>
            <th scope="col">Kind</th>
            <th scope="col">Changed</th>
            <th scope="col" class="num">Size</th>
          </tr>
        </thead>
        <tbody>
          {pages.rows.map(({ entry, why, pattern, excerpt }) => (
            <tr key={entry.id} class={chosen.has(entry.id) ? "is-selected" : undefined}>
              {mayChange && (
                <td class="check-cell">
                  <input
                    type="checkbox"
                    aria-label={`Select ${seen(entry.path)}`}
                    checked={chosen.has(entry.id)}
                    onChange={() => {
                      const next = new Set(chosen);
                      if (!next.delete(entry.id)) next.add(entry.id);
                      setChosen(next);
                    }}
                  />
                </td>
              )}
              <td class="wide">
                <a class="path" href={href(memoryPlace(store, entry.path, entry.id))}>
                  {seen(entry.path)}
                </a>
                {excerpt && <div class="note">{seen(excerpt)}</div>}
              </td>
              <td>
                {pattern ? <Badge tone="danger">{seen(pattern.replaceAll("_", " "))}</Badge> : null} {seen(why)}
              </td>
              <td>
                <Kind kind={entry.kind} />
              </td>
              <td data-label="Changed">
                <Time at={entry.updated_at} />
              </td>
              <td class="num" data-label="Size">
                {bytes(entry.size_bytes)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <More shown={pages.rows.length} hasMore={pages.hasMore} isLoading={pages.isLoading} more={pages.more} what="memories" />
      {picked.length > 0 && (
        <div class="bulk" role="region" aria-label="Selected memories">
          <strong>{plural(picked.length, "memory", "memories")} selected</strong>
          <Button onClick={run((entries) => setAttributes(store, entries, { visibility: "internal" }, "Hidden from models:"))}>Hide from models</Button>
          <Button tone="danger" onClick={run((entries) => removeEntries(store, entries))}>
            Delete
          </Button>
          {check === "secrets" && <span class="note">Deleting keeps the history. To destroy the text, open the memory and erase it.</span>}
        </div>
      )}
    </>
  );
}

function Duplicates({ store, mayChange }: { store: string; mayChange: boolean }) {
  const query = useQuery(`live:${store}:duplicates`, () => api.duplicates(store));
  const keepNewest = (group: DuplicateGroup) => {
    const [, ...rest] = [...group.memories].sort((a, b) => Date.parse(b.updated_at) - Date.parse(a.updated_at));
    void attempt(async () => void (await removeEntries(store, rest)), "Nothing was deleted");
  };
  return (
    <Loaded query={query} what="The duplicates">
      {(report) => {
        const groups = [...report.exact.map((group) => ({ group, isExact: true })), ...report.near.map((group) => ({ group, isExact: false }))];
        if (groups.length === 0) return <Empty title={CHECKS["duplicates"]?.[2] ?? ""} />;
        return (
          <div class="form">
            {report.is_truncated && <p class="note">There are more; these are the nearest.</p>}
            {groups.map(({ group, isExact }) => (
              <section class="card" key={group.memories.map((one) => one.id).join()} aria-label={`${group.memories.length} memories that say the same`}>
                <div class="head">
                  <p>
                    <Badge tone={isExact ? "warn" : "plain"}>{isExact ? "the same text" : `${Math.round(group.similarity * 100)}% alike`}</Badge>
                  </p>
                  {mayChange && <Button onClick={() => keepNewest(group)}>Keep the newest, delete {group.memories.length - 1}</Button>}
                </div>
                <ul class="plain-list">
                  {group.memories.map((memory) => (
                    <li key={memory.id}>
                      <a class="path" href={href(memoryPlace(store, memory.path, memory.id))}>
                        {seen(memory.path)}
                      </a>{" "}
                      <span class="note">
                        v{memory.revision}, <Time at={memory.updated_at} />
                      </span>
                      {memory.content && <div class="note">{seen(memory.content.slice(0, 200))}</div>}
                    </li>
                  ))}
                </ul>
              </section>
            ))}
          </div>
        );
      }}
    </Loaded>
  );
}
