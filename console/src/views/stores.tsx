// All stores that the caller reaches: how much is in them, what changed last, and how they may be used.

import { useState } from "preact/hooks";
import * as api from "../api/routes";
import type { StoreRow } from "../api/types";
import { useAtom } from "../state/atom";
import { useCommands } from "../state/commands";
import { changed } from "../state/query";
import { go, href, storePlace, usePlace, withQuery } from "../state/router";
import { mayWrite, session, whyReadOnly } from "../state/session";
import { useStores } from "../state/stores";
import { bytes, count, plural, seen } from "../text/format";
import { ActorName, Badge, Button, Field, LevelBadge, Numbers, Principal, Time } from "../ui/basics";
import { Spark } from "../ui/charts";
import { FormDialog } from "../ui/form";
import { Head, useCursor } from "../ui/page";
import { Empty, Loaded } from "../ui/states";

export function Stores() {
  const query = useStores();
  const { query: place } = usePlace();
  const who = useAtom(session);
  const [isMaking, setMaking] = useState(false);
  const filter = place.get("q") ?? "";
  const isAll = place.get("archived") === "1";
  const rows = (query.data?.data ?? []).filter((row) => (isAll || !row.archived_at) && `${row.name} ${row.description}`.toLowerCase().includes(filter.toLowerCase()));
  const cursor = useCursor(rows.length, (index) => {
    const row = rows[index];
    if (row) go(storePlace(row.memory_store_id));
  });
  const make = () => setMaking(true);
  useCommands([{ label: "New store", run: make, unless: whyReadOnly() }]);
  const all = query.data?.data ?? [];
  const sum = (pick: (row: StoreRow) => number | null) => all.reduce((total, row) => total + (pick(row) ?? 0), 0);
  const today = all.reduce((total, row) => total + (row.days?.at(-1) ?? 0), 0);
  return (
    <>
      <Head
        title="Stores"
        acts={
          mayWrite() && (
            <Button icon="plus" tone="primary" onClick={make}>
              New store
            </Button>
          )
        }
      />
      <Loaded query={query} what="The list of stores">
        {(data) =>
          data.data.length === 0 ? (
            <Empty title="No store yet.">
              <p>{who?.is_admin ? "A store appears with the first memory that an agent writes, or when you make one." : "Nobody has shared a store with you yet, and you have made none."}</p>
              {mayWrite() && (
                <Button icon="plus" onClick={make}>
                  New store
                </Button>
              )}
            </Empty>
          ) : (
            <div class="form">
              <Numbers
                items={[
                  { label: "Stores", value: count(data.data.length) },
                  { label: "Memories", value: count(sum((row) => row.memories)) },
                  { label: "Content", value: bytes(sum((row) => row.content_bytes)) },
                  { label: "Changes today", value: count(today) },
                ]}
              />
              <div class="filters">
                <input type="search" aria-label="Filter by name" placeholder="Filter by name" value={filter} onInput={(event) => go(withQuery({ q: event.currentTarget.value }), true)} />
                <label class="check">
                  <input type="checkbox" checked={isAll} onChange={(event) => go(withQuery({ archived: event.currentTarget.checked ? "1" : null }), true)} />
                  Archived too
                </label>
                {data.is_truncated && <span class="note">The first 1,000 only.</span>}
              </div>
              {rows.length === 0 ? (
                <Empty title="No store has such a name.">
                  <Button onClick={() => go(withQuery({ q: null, archived: "1" }), true)}>Show all</Button>
                </Empty>
              ) : (
                <StoreTable rows={rows} at={cursor.at} />
              )}
            </div>
          )
        }
      </Loaded>
      {isMaking && <NewStore onClose={() => setMaking(false)} />}
    </>
  );
}

const kindsText = (row: StoreRow): string => {
  const kinds = Object.entries(row.by_kind ?? {}).sort((a, b) => b[1] - a[1]);
  return kinds.slice(0, 3).map(([kind, some]) => `${count(some)} ${kind === "" ? "without a kind" : seen(kind)}`).join(", ") + (kinds.length > 3 ? " …" : "");
};

function StoreTable({ rows, at }: { rows: StoreRow[]; at: number }) {
  return (
    <table class="table cards-narrow">
      <caption class="sr">Stores</caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col" class="num">Memories</th>
          <th scope="col" class="num">Size</th>
          <th scope="col">Last change</th>
          <th scope="col">7 days</th>
          <th scope="col">Owner</th>
          <th scope="col">You may</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={row.memory_store_id} class={index === at ? "is-current" : undefined}>
            <td class="wide">
              <a href={href(storePlace(row.memory_store_id))}>
                <strong>{seen(row.name)}</strong>
              </a>{" "}
              {row.home_of && <Badge title="The memory that belongs to somebody, not a store that was made">home of {row.home_of === "group" ? "a chat" : row.home_of === "user" ? "a person" : "an agent"}</Badge>}{" "}
              {row.archived_at && <Badge tone="warn">archived</Badge>}
              {row.description && <div class="note">{seen(row.description)}</div>}
            </td>
            <td class="num" data-label="Memories" title={kindsText(row)}>
              {row.memories === null ? "" : count(row.memories)}
            </td>
            <td class="num" data-label="Size">
              {row.content_bytes === null ? "" : bytes(row.content_bytes)}
            </td>
            <td data-label="Changed">
              {row.changed_at && (
                <>
                  <Time at={row.changed_at} /> <ActorName actor={row.changed_by} />
                </>
              )}
            </td>
            <td data-label="7 days">{row.days && <Spark values={row.days} label={`${plural(row.days.reduce((a, b) => a + b, 0), "change")} in 7 days`} />}</td>
            <td data-label="Owner">{row.owner && <Principal who={row.owner} />}</td>
            <td data-label="You may">
              <LevelBadge level={row.level} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function NewStore({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const run = async () => {
    const made = await api.createStore({ name, description });
    changed("stores");
    onClose();
    go(storePlace(made.id));
  };
  return (
    <FormDialog title="New store" act="Make it" isReady={name.trim() !== ""} onClose={onClose} run={run}>
      <Field label="Name">
        <input value={name} maxLength={255} required autofocus onInput={(event) => setName(event.currentTarget.value)} />
      </Field>
      <Field label="Description" note="Models read this to know what the store is for.">
        <textarea rows={3} value={description} maxLength={1024} onInput={(event) => setDescription(event.currentTarget.value)} />
      </Field>
    </FormDialog>
  );
}
