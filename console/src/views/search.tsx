// Search by word and by meaning, with what each result owes its place to.

import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "../api/routes";
import { viewAs } from "../api/http";
import type { Hit } from "../api/types";
import { useAtom } from "../state/atom";
import { useKeys } from "../state/keys";
import { useQuery } from "../state/query";
import { go, href, memoryPlace, storePlace, usePlace, withQuery } from "../state/router";
import { useStores } from "../state/stores";
import { plural, seen } from "../text/format";
import { Badge, Button, Kind, Time } from "../ui/basics";
import { Head, useCursor } from "../ui/page";
import { Empty, Loaded } from "../ui/states";
import { ScoreBar, Why } from "./why";

export function SearchView() {
  const { query } = usePlace();
  const q = query.get("q") ?? "";
  const store = query.get("store");
  const mode = query.get("mode") ?? "hybrid";
  const kind = query.get("kind") ?? "";
  const tag = query.get("tag") ?? "";
  const prefix = query.get("prefix") ?? "";
  const asOf = query.get("as_of");
  const borrowed = useAtom(viewAs);
  const [text, setText] = useState(q);
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    setText(q);
    if (q === "") box.current?.focus();
  }, [q]);
  const body: api.SearchBody = { query: q, limit: 30, mode, explain: true, view: "basic" };
  const filter: NonNullable<api.SearchBody["filter"]> = {};
  if (kind) filter.kind = kind;
  if (tag) filter.tags = [tag];
  if (prefix) filter.path_prefix = prefix;
  if (Object.keys(filter).length > 0) body.filter = filter;
  if (asOf) body.as_of = asOf;
  const found = useQuery(q === "" ? null : `search:${store ?? ""}:${borrowed?.id ?? ""}:${JSON.stringify(body)}`, async () => {
    const start = performance.now();
    const answer = await api.search(store, body);
    return { ...answer, took: Math.round(performance.now() - start) };
  });
  useKeys({ "/": () => box.current?.select() });
  const rows = useStores().data?.data ?? [];
  const set = (name: string) => (event: Event) => go(withQuery({ [name]: (event.currentTarget as HTMLInputElement).value }), true);
  return (
    <>
      <Head title="Search" />
      <form
        class="query"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          go(withQuery({ q: text.trim() }));
        }}
      >
        <input ref={box} type="search" aria-label="What to find" placeholder="What did we decide about …" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        <Button type="submit" icon="search" tone="primary">
          Search
        </Button>
      </form>
      <div class="filters">
        <select aria-label="Store" value={store ?? ""} onChange={set("store")}>
          <option value="">all stores</option>
          {rows.map((row) => (
            <option key={row.memory_store_id} value={row.memory_store_id}>
              {seen(row.name)}
            </option>
          ))}
        </select>
        <select aria-label="How" value={mode} onChange={set("mode")}>
          <option value="hybrid">by word and meaning</option>
          <option value="lexical">by word</option>
          <option value="semantic">by meaning</option>
        </select>
        <input type="text" aria-label="Kind" placeholder="kind" value={kind} onChange={set("kind")} />
        <input type="text" aria-label="Tag" placeholder="tag" value={tag} onChange={set("tag")} />
        <input type="text" aria-label="Below the path" placeholder="below /path/" value={prefix} onChange={set("prefix")} />
        {borrowed && <Badge tone="warn">as {seen(borrowed.name)}</Badge>}
        {asOf && (
          <Button onClick={() => go(withQuery({ as_of: null }))}>
            as of <Time at={asOf} />; now
          </Button>
        )}
      </div>
      {q === "" ? (
        <Empty title="Ask in any words.">
          <p>Words are alternatives, "quoted words" belong together, and word* is a beginning. Nothing else is syntax.</p>
        </Empty>
      ) : (
        <Loaded query={found} what="The results">
          {(answer) => <Results answer={answer} took={answer.took} names={new Map(rows.map((row) => [row.memory_store_id, row.name]))} />}
        </Loaded>
      )}
    </>
  );
}

function Results({ answer, took, names }: { answer: { data: Hit[]; is_complete: boolean; stores_left_out?: number }; took: number; names: Map<string, string> }) {
  const [open, setOpen] = useState<Set<string>>(new Set());
  const { at } = useCursor(answer.data.length, (index) => {
    const hit = answer.data[index];
    if (hit) go(memoryPlace(hit.memory_store_id, hit.path, hit.id));
  });
  const toggle = (id: string) => {
    const next = new Set(open);
    if (!next.delete(id)) next.add(id);
    setOpen(next);
  };
  useKeys({
    w: () => {
      const hit = answer.data[Math.max(0, at)];
      if (hit) toggle(hit.id);
    },
  });
  const top = Math.max(0.0001, ...answer.data.map((hit) => hit.score));
  if (answer.data.length === 0) {
    return (
      <Empty title="Nothing was found.">
        <p>Try other words, fewer filters, or all stores.</p>
        <Button onClick={() => go(withQuery({ kind: null, tag: null, prefix: null, store: null, as_of: null }), true)}>Take all filters away</Button>
      </Empty>
    );
  }
  return (
    <>
      <p class="note" role="status">
        {plural(answer.data.length, "result")} in {took} ms. {!answer.is_complete && "Some newest memories are found by word only until their vectors are made. "}
        {(answer.stores_left_out ?? 0) > 0 && `${plural(answer.stores_left_out ?? 0, "store")} left out: searched too often for search-only access. `}
        What you may not see is neither searched nor counted.
      </p>
      <ol class="hits">
        {answer.data.map((hit, index) => (
          <li key={hit.id} class={index === at ? "hit is-current" : "hit"}>
            <div class="hit-head">
              <a class="path" href={href(memoryPlace(hit.memory_store_id, hit.path, hit.id))}>
                {seen(hit.path)}
              </a>
              <a class="muted" href={href(storePlace(hit.memory_store_id))}>
                {seen(names.get(hit.memory_store_id) ?? "another store")}
              </a>
              <Kind kind={hit.kind} />
              {hit.pinned && <Badge tone="accent">pinned</Badge>}
              <span class="note">
                v{hit.revision}, <Time at={hit.updated_at} />
              </span>
              <ScoreBar hit={hit} top={top} />
              <button type="button" class="link" aria-expanded={open.has(hit.id)} onClick={() => toggle(hit.id)}>
                why?
              </button>
            </div>
            <p class="hit-text">
              <Marked text={hit.snippet} spans={hit.highlights} />
            </p>
            {open.has(hit.id) && <Why hit={hit} />}
          </li>
        ))}
      </ol>
    </>
  );
}

/** A snippet with what matched marked; positions count characters, not code units. */
function Marked({ text, spans }: { text: string; spans: [number, number][] }) {
  const characters = Array.from(text);
  const parts: preact.ComponentChildren[] = [];
  let at = 0;
  for (const [from, until] of spans) {
    parts.push(seen(characters.slice(at, from).join("")), <mark key={from}>{seen(characters.slice(from, until).join(""))}</mark>);
    at = until;
  }
  parts.push(seen(characters.slice(at).join("")));
  return <>{parts}</>;
}
