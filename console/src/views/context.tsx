// What an agent gets at the start of a turn: the six slots, the text they make, and the brief of a store. Exactly as it is sent.

import * as api from "../api/routes";
import type { ContextAnswer, Slot } from "../api/types";
import { useQuery } from "../state/query";
import { go, href, memoryPlace, storePlace, usePlace, withQuery } from "../state/router";
import { useStore } from "../state/stores";
import { bytes, count, day, plural, seen } from "../text/format";
import { Field } from "../ui/basics";
import { Tabs } from "../ui/dialog";
import { Head } from "../ui/page";
import { Loaded } from "../ui/states";

const SLOTS: Record<string, string> = {
  identity: "Who they are",
  work: "What they do",
  goals: "What they want",
  interests: "What they like",
  relationships: "Who is near them",
  recent: "What happened lately",
};

export function StoreContext({ store }: { store: string }) {
  const row = useStore(store);
  const { query } = usePlace();
  const tab = query.get("tab") ?? "slots";
  return (
    <>
      <Head title="Context" crumbs={[{ text: "Stores", to: "/" }, { text: row?.name ?? "Store", to: storePlace(store) }]} note="What an agent would get from this store, compiled now by the server." />
      <Tabs
        label="Which context"
        current={tab}
        items={[
          { id: "slots", text: "Six slots", href: href(withQuery({ tab: null })) },
          { id: "index", text: "Brief: index", href: href(withQuery({ tab: "index" })) },
          { id: "full", text: "Brief: full", href: href(withQuery({ tab: "full" })) },
        ]}
      />
      {tab === "slots" ? <Slots id={`store ${store}`} query={{ memory_store_id: store }} /> : <Brief store={store} mode={tab === "full" ? "full" : "index"} />}
    </>
  );
}

/** The six slots of a store or of somebody. */
export function Slots({ id, query: wanted }: { id: string; query: { principal?: string; memory_store_id?: string } }) {
  const { query: place } = usePlace();
  const size = Number(place.get("bytes") ?? 4096);
  const storeKey = wanted.memory_store_id ? `live:${wanted.memory_store_id}:` : "";
  const query = useQuery(`${storeKey}context:${id}:${size}`, () => api.context({ ...wanted, max_bytes: size }));
  return (
    <Loaded query={query} what="The context">
      {(answer) => (
        <div class="form">
          <div class="filters">
            <Field label="At most, in bytes">
              <select value={String(size)} onChange={(event) => go(withQuery({ bytes: event.currentTarget.value }), true)}>
                {[1024, 2048, 4096, 16_384, 65_536].map((one) => (
                  <option key={one} value={one}>
                    {count(one)}
                  </option>
                ))}
              </select>
            </Field>
            <p class="muted">
              {bytes(answer.bytes)} of {bytes(size)} used, about {plural(Math.round(answer.bytes / 4), "token")}
            </p>
          </div>
          <div class="slots">
            {answer.slots.map((slot, index) => (
              <SlotCard key={slot.name} slot={slot} number={index + 1} />
            ))}
          </div>
          <AsSent answer={answer} />
        </div>
      )}
    </Loaded>
  );
}

function SlotCard({ slot, number }: { slot: Slot; number: number }) {
  const total = slot.facts.length + slot.episodes.length;
  return (
    <section class="slot" aria-label={slot.name}>
      <div class="slot-head">
        <h3>
          {number} {slot.name}
        </h3>
        <span class="note">{SLOTS[slot.name]}</span>
      </div>
      {total === 0 ? (
        <p class="note">Nothing is known.</p>
      ) : (
        <ul>
          {slot.facts.map((fact) => (
            <li key={fact.id}>
              {seen(fact.text)} {fact.valid_at && <span class="note">since {day(fact.valid_at)}</span>}{" "}
              {fact.memory_ids[0] && (
                <a class="note" href={href(memoryPlace(fact.memory_store_id, "/", fact.memory_ids[0]))}>
                  source
                </a>
              )}
            </li>
          ))}
          {slot.episodes.map((episode) => (
            <li key={episode.id}>
              <a class="path" href={href(memoryPlace(episode.memory_store_id, episode.path, episode.id))}>
                {seen(episode.path)}
              </a>
              <div class="note">{seen((episode.content ?? "").slice(0, 160))}</div>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function AsSent({ answer }: { answer: ContextAnswer }) {
  return (
    <section class="section">
      <h2>The text, exactly as an agent gets it</h2>
      {answer.text === "" ? <p class="muted">Empty: nothing is known, so nothing is added to a prompt.</p> : <pre class="source" tabIndex={0}>{seen(answer.text)}</pre>}
    </section>
  );
}

function Brief({ store, mode }: { store: string; mode: "index" | "full" }) {
  const size = mode === "index" ? 1536 : 131_072;
  const query = useQuery(`live:${store}:brief:${mode}`, () => api.brief(store, mode, size));
  return (
    <Loaded query={query} what="The brief">
      {(answer) => (
        <div class="section">
          <p class="muted">
            {bytes(answer.bytes)} of {bytes(size)}
            {answer.left_out > 0 && `; ${plural(answer.left_out, "memory", "memories")} did not fit`}
          </p>
          {answer.text === "" ? <p class="muted">Empty.</p> : <pre class="source" tabIndex={0}>{seen(answer.text)}</pre>}
        </div>
      )}
    </Loaded>
  );
}
