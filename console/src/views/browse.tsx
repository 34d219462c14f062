// The memories of one store: a tree of directories, a table with filters, many at once, and the store as it was.

import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "../api/routes";
import type { Directory, Entry } from "../api/types";
import { onWritten } from "../memory/acts";
import { useCommands } from "../state/commands";
import { onChange } from "../state/live";
import { usePages } from "../state/query";
import { go, href, storePlace, usePlace, withQuery } from "../state/router";
import { whyReadOnly } from "../state/session";
import { mayEdit, useStore, useStores } from "../state/stores";
import { seen } from "../text/format";
import { Button, LevelBadge } from "../ui/basics";
import { Menu } from "../ui/dialog";
import { Head, More } from "../ui/page";
import { Empty, Failed, Waiting } from "../ui/states";
import { DeleteBelow } from "./bulk";
import { EntryTable } from "./browse-table";
import { Filters } from "./browse-filters";
import { filtersOf, isFiltered, rowsQuery } from "./browse-questions";
import { PastBanner, TimeBar } from "./timebar";
import { Tree } from "./tree";

export function Browse({ store }: { store: string }) {
  const row = useStore(store);
  // What may be done with the rows decides their columns, so both are drawn at once.
  const stores = useStores();
  const isKnown = stores.data !== undefined || stores.error !== undefined;
  const { query } = usePlace();
  const filters = filtersOf(query);
  const asOf = query.get("as_of");
  const [isBusy, setBusy] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const key = JSON.stringify([store, filters, asOf]);
  const pages = usePages<Entry | Directory>(key, (page) => api.entries(store, rowsQuery(query, page)));
  const entries = pages.rows.filter((one): one is Entry => one.type === "entry");
  useFresh(store, filters.prefix ?? "/", asOf === null && pages.rows.length <= 100 && !isBusy, pages.again);
  const latest = useRef(pages);
  latest.current = pages;
  useEffect(
    () =>
      onWritten((where, outcomes) => {
        if (where !== store) return;
        const byId = new Map(outcomes.map((outcome) => [outcome.entry.id, outcome]));
        latest.current.patch((one) => {
          const outcome = one.type === "entry" ? byId.get(one.id) : undefined;
          if (!outcome || outcome.operation === null) return one;
          return outcome.operation === "deleted" ? null : { ...outcome.entry, type: "entry" };
        });
      }),
    [store],
  );
  const mayChange = mayEdit(row) && asOf === null;
  const makeNew = () => go(storePlace(store, `/new?prefix=${encodeURIComponent(filters.prefix ?? "/")}`));
  useCommands([
    { label: "New memory here", run: makeNew, unless: mayEdit(row) ? null : (whyReadOnly() ?? "you may only read this store") },
    { label: "View as of now", run: () => go(withQuery({ as_of: null })), unless: asOf ? null : "you see the present" },
  ]);
  const prefix = filters.prefix ?? "/";
  return (
    <>
      <Head
        title={row?.name ?? "Store"}
        crumbs={[{ text: "Stores", to: "/" }, { text: row?.name ?? store, to: storePlace(store) }, ...crumbsOf(store, prefix)]}
        note={row?.description ? seen(row.description) : undefined}
        acts={
          <>
            {row && <LevelBadge level={row.level} />}
            <Button icon="search" onClick={() => go(`/search?store=${encodeURIComponent(store)}`)}>
              Search in it
            </Button>
            {mayChange && (
              <Button icon="plus" tone="primary" onClick={makeNew}>
                New memory
              </Button>
            )}
            {mayChange && prefix !== "/" && <Menu label="More acts" icon="more" items={[{ label: `Delete everything below ${prefix}`, tone: "danger", run: () => setDeleting(true) }]} />}
          </>
        }
      />
      {asOf && <PastBanner at={asOf} />}
      <div class="split">
        <Tree store={store} prefix={prefix} asOf={asOf} />
        <div class="section">
          <Filters filters={filters} kinds={Object.keys(row?.by_kind ?? {}).filter(Boolean)} />
          {pages.error ? (
            <Failed error={pages.error} again={pages.again} what="The list of memories" />
          ) : !isKnown || (pages.isLoading && pages.rows.length === 0) ? (
            <Waiting rows={10} />
          ) : entries.length === 0 ? (
            <NothingHere store={store} filtered={isFiltered(query)} isPast={asOf !== null} mayChange={mayChange} />
          ) : (
            <div class={pages.isOld ? "old" : undefined}>
              <EntryTable store={store} prefix={prefix} entries={entries} mayChange={mayChange} asOf={asOf} onBusy={setBusy} />
              <More shown={entries.length} total={isFiltered(query) || asOf ? null : (row?.memories ?? null)} hasMore={pages.hasMore} isLoading={pages.isLoading} more={pages.more} what="memories" />
            </div>
          )}
        </div>
      </div>
      {isDeleting && <DeleteBelow store={store} prefix={prefix} onClose={() => setDeleting(false)} />}
      {/* After the rows, for which somebody waits. */}
      <TimeBar store={store} lastSeq={pages.isLoading && pages.rows.length === 0 ? null : (row?.last_seq ?? null)} asOf={asOf} />
    </>
  );
}

function crumbsOf(store: string, prefix: string): { text: string; to: string }[] {
  const parts = prefix.split("/").filter(Boolean);
  return parts.map((part, index) => ({ text: part, to: storePlace(store, `?path=${encodeURIComponent(`/${parts.slice(0, index + 1).join("/")}/`)}`) }));
}

/** Reads the list again when something below the prefix changed, unless somebody has selected rows or loaded more. */
function useFresh(store: string, prefix: string, mayRefresh: boolean, again: () => void): void {
  const latest = useRef(again);
  latest.current = again;
  useEffect(() => {
    if (!mayRefresh) return;
    let timer: number | undefined;
    const stop = onChange((change) => {
      if (change.memory_store_id !== store || (change.path !== null && !change.path.startsWith(prefix))) return;
      timer ??= window.setTimeout(() => {
        timer = undefined;
        latest.current();
      }, 250);
    });
    return () => {
      window.clearTimeout(timer);
      stop();
    };
  }, [store, prefix, mayRefresh]);
}

function NothingHere({ store, filtered, isPast, mayChange }: { store: string; filtered: boolean; isPast: boolean; mayChange: boolean }) {
  if (filtered) {
    return (
      <Empty title="No memory fits these filters.">
        <Button onClick={() => go(storePlace(store))}>Take all filters away</Button>
      </Empty>
    );
  }
  if (isPast) return <Empty title="There was no memory here at that moment." />;
  const example = `curl ${location.origin}/v1/memory_stores/${store}/edits \\\n  -H "Authorization: Bearer $LOCI_KEY" -H "Content-Type: application/json" \\\n  -d '{"edits": [{"op": "put", "path": "/notes/first.md", "content": "Remember this."}]}'`;
  return (
    <Empty title="No memory yet.">
      <p>Memories appear here as agents write them. To try it, run this, or write one by hand.</p>
      <pre class="source" tabIndex={0}>{example}</pre>
      {mayChange && (
        <a class="button" href={href(storePlace(store, "/new"))}>
          Write one by hand
        </a>
      )}
    </Empty>
  );
}

