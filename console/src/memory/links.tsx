// What a memory is connected with: the facts read from it, and memories that say something near.

import * as api from "../api/routes";
import type { Entry, Fact } from "../api/types";
import { useQuery } from "../state/query";
import { href, memoryPlace, storePlace, to } from "../state/router";
import { seen } from "../text/format";
import { Kind } from "../ui/basics";
import { Empty, Loaded } from "../ui/states";
import { FactTable } from "../views/facts";

/** Facts of one memory; a server that does not know the filter gives all, so we look again. */
async function factsOf(store: string, memory: string): Promise<Fact[]> {
  const found: Fact[] = [];
  let after = 0;
  for (let turn = 0; turn < 5; turn += 1) {
    const page = await api.facts(store, { memory_id: memory, limit: 100, after });
    found.push(...page.data.filter((fact) => fact.memory_ids.includes(memory)));
    if (page.next === null) break;
    after = page.next;
  }
  return found;
}

export function Links({ store, entry }: { store: string; entry: Entry }) {
  const facts = useQuery(`live:${store}:facts-of:${entry.id}:${entry.revision}`, () => factsOf(store, entry.id));
  const text = (entry.content ?? "").slice(0, 600).trim();
  const near = useQuery(text === "" ? null : `near:${entry.id}:${entry.revision}`, () => api.search(store, { query: text, limit: 9, explain: true, view: "basic" }));
  return (
    <div class="form">
      <section class="section">
        <h2>Facts read from it</h2>
        <Loaded query={facts} what="Facts" rows={3}>
          {(data) => (data.length === 0 ? <p class="muted">Nothing in this text reads as a fact about somebody.</p> : <FactTable store={store} facts={data} mayDismiss={false} />)}
        </Loaded>
      </section>
      <section class="section">
        <h2>Memories that say something near</h2>
        {text === "" ? (
          <Empty title="There is no text to compare." />
        ) : (
          <Loaded query={near} what="Similar memories" rows={3}>
            {(answer) => {
              const others = answer.data.filter((hit) => hit.id !== entry.id);
              if (others.length === 0) return <p class="muted">Nothing else in this store is near.</p>;
              return (
                <ul class="hits">
                  {others.map((hit) => (
                    <li class="hit" key={hit.id}>
                      <div class="hit-head">
                        <a class="path" href={href(memoryPlace(store, hit.path, hit.id))}>
                          {seen(hit.path)}
                        </a>
                        <Kind kind={hit.kind} />
                      </div>
                      <p class="hit-text">{seen(hit.snippet)}</p>
                    </li>
                  ))}
                </ul>
              );
            }}
          </Loaded>
        )}
      </section>
      <p>
        <a href={href(to(storePlace(store, "/hygiene"), { check: "duplicates" }))}>All duplicates in this store</a>
      </p>
    </div>
  );
}
