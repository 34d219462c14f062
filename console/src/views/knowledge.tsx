// What is known from a store: entities and facts, as a list or drawn, at any time that was true or known.

import { useState } from "preact/hooks";
import * as api from "../api/routes";
import type { Entity, Fact } from "../api/types";
import { useQuery } from "../state/query";
import { go, href, storePlace, to, usePlace, withQuery } from "../state/router";
import { mayEdit, useStore } from "../state/stores";
import { count, fromInput, localInput, plural, seen } from "../text/format";
import { Button, Field } from "../ui/basics";
import { Tabs } from "../ui/dialog";
import { Head } from "../ui/page";
import { Empty, Loaded } from "../ui/states";
import { FactTable } from "./facts";
import { Graph } from "./graph";

export function Knowledge({ store }: { store: string }) {
  const row = useStore(store);
  const { query } = usePlace();
  const about = query.get("about");
  const tab = query.get("tab") ?? (about ? "facts" : "entities");
  return (
    <>
      <Head
        title={about ?? "Knowledge"}
        crumbs={[{ text: "Stores", to: "/" }, { text: row?.name ?? "Store", to: storePlace(store) }, ...(about ? [{ text: "Knowledge", to: storePlace(store, "/knowledge") }] : [])]}
        note={about ? undefined : "Read out of plain sentences by rules, without a language model. Each fact names the memories that say it."}
      />
      <Tabs
        label="How it is shown"
        current={tab}
        items={[
          ...(about ? [] : [{ id: "entities", text: "Entities", href: href(withQuery({ tab: "entities" })) }]),
          { id: "facts", text: "Facts", href: href(withQuery({ tab: "facts" })) },
          { id: "graph", text: "Graph", href: href(withQuery({ tab: "graph" })) },
        ]}
      />
      {tab === "entities" ? <Entities store={store} /> : <Facts store={store} about={about} isGraph={tab === "graph"} mayDismiss={mayEdit(row)} />}
    </>
  );
}

function Entities({ store }: { store: string }) {
  const [shown, setShown] = useState(100);
  const query = useQuery(`live:${store}:entities:${shown}`, async () => {
    const data: Entity[] = [];
    let after = 0;
    let total = 0;
    while (data.length < shown) {
      const page = await api.entities(store, { limit: 100, after });
      data.push(...page.data);
      total = page.total;
      if (page.next === null) break;
      after = page.next;
    }
    return { data, total };
  });
  return (
    <Loaded query={query} what="The entities">
      {({ data, total }) =>
        data.length === 0 ? (
          <Empty title="Nobody and nothing is known yet.">
            <p>Entities appear when memories say something about people, places or things, such as “Ana works at Acme”.</p>
          </Empty>
        ) : (
          <>
            <table class="table cards-narrow">
              <caption class="sr">Entities</caption>
              <thead>
                <tr>
                  <th scope="col">Name</th>
                  <th scope="col">Sort</th>
                  <th scope="col">What is so now</th>
                  <th scope="col" class="num">Facts</th>
                </tr>
              </thead>
              <tbody>
                {data.map((entity) => (
                  <tr key={entity.id}>
                    <td>
                      <a href={href(to(storePlace(store, "/knowledge"), { about: entity.name }))}>
                        <strong>{seen(entity.name)}</strong>
                      </a>
                    </td>
                    <td>{entity.labels.join(", ") || <span class="muted">–</span>}</td>
                    <td class="wide">{seen(entity.summary)}</td>
                    <td class="num" data-label="Facts">
                      {count(entity.facts)}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            {data.length < total && (
              <div class="more">
                <Button onClick={() => setShown(shown + 100)}>Load more</Button>
                <span class="note">
                  {count(data.length)} of {plural(total, "entity", "entities")}
                </span>
              </div>
            )}
          </>
        )
      }
    </Loaded>
  );
}

/** What was known at a moment: learned by then, and not yet learned to be over. */
function knownAt(facts: Fact[], moment: string | null): Fact[] {
  if (!moment) return facts;
  const at = Date.parse(moment);
  return facts.filter((fact) => Date.parse(fact.created_at) <= at).map((fact) => (fact.expired_at && Date.parse(fact.expired_at) > at ? { ...fact, invalid_at: null, expired_at: null } : fact));
}

function Facts({ store, about, isGraph, mayDismiss }: { store: string; about: string | null; isGraph: boolean; mayDismiss: boolean }) {
  const { query: place } = usePlace();
  const trueAt = place.get("true_at");
  const known = place.get("known_at");
  const isAll = place.get("all") === "1";
  const [shown, setShown] = useState(100);
  const wanted: api.FactsQuery = {};
  if (about) wanted.about = about;
  if (trueAt) wanted.true_at = trueAt;
  else if (!isAll) wanted.is_current = true;
  const query = useQuery(`live:${store}:facts:${JSON.stringify(wanted)}:${shown}`, async () => {
    const data: Fact[] = [];
    let after = 0;
    let total = 0;
    while (data.length < shown) {
      const page = await api.facts(store, { ...wanted, limit: 100, after });
      data.push(...page.data);
      total = page.total;
      if (page.next === null) break;
      after = page.next;
    }
    return { data, total };
  });
  const setTime = (name: string) => (event: Event) => go(withQuery({ [name]: fromInput((event.currentTarget as HTMLInputElement).value) }), true);
  return (
    <>
      <div class="filters">
        <Field label="True at">
          <input type="datetime-local" value={trueAt ? localInput(trueAt) : ""} onChange={setTime("true_at")} />
        </Field>
        <Field label="Known at">
          <input type="datetime-local" value={known ? localInput(known) : ""} onChange={setTime("known_at")} />
        </Field>
        <label class="check">
          <input type="checkbox" checked={isAll} disabled={trueAt !== null} onChange={(event) => go(withQuery({ all: event.currentTarget.checked ? "1" : null }), true)} />
          What is over too
        </label>
        {(trueAt || known) && <Button onClick={() => go(withQuery({ true_at: null, known_at: null }), true)}>Now</Button>}
      </div>
      <Loaded query={query} what="The facts">
        {({ data, total }) => {
          const facts = knownAt(data, known);
          if (facts.length === 0) return <Empty title={about ? `Nothing is known about ${seen(about)} with these filters.` : "No facts with these filters."} />;
          return (
            <div class="form">
              {isGraph && <Graph store={store} facts={facts} middle={about} />}
              <FactTable store={store} facts={facts} mayDismiss={mayDismiss} />
              {data.length < total && (
                <div class="more">
                  <Button onClick={() => setShown(shown + 100)}>Load more</Button>
                  <span class="note">
                    {count(data.length)} of {plural(total, "fact")}
                  </span>
                </div>
              )}
            </div>
          );
        }}
      </Loaded>
    </>
  );
}
