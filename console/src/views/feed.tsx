// Changes as they happen. A ring of 1,000 rows, painted at most four times a second; pausing is explicit and nothing is lost.

import { useEffect, useRef, useState } from "preact/hooks";
import * as api from "../api/routes";
import { isOffline } from "../api/http";
import type { Change } from "../api/types";
import { undoWrites } from "../memory/acts";
import { useAtom } from "../state/atom";
import { useCommands } from "../state/commands";
import { useKeys } from "../state/keys";
import { liveState, onChange, onGap, type Gap } from "../state/live";
import { actorId, nameNow } from "../state/names";
import { prefs } from "../state/prefs";
import { go, href, memoryPlace, usePlace, withQuery } from "../state/router";
import { mayEdit, useStores } from "../state/stores";
import { attempt } from "../state/toasts";
import { clock, count, plural, seen } from "../text/format";
import { ActorName, Button, Kind } from "../ui/basics";
import { Head } from "../ui/page";
import { Kept } from "../ui/same";
import { Empty } from "../ui/states";

type Row = { type: "change"; change: Change } | { type: "gap"; gap: Gap };

const RING = 1000;
const PAINT_MS = 250;
/** Rows on the page; the rest of the ring is a click away, and costs nothing until then. */
const SHOWN = 200;
/** The same while so many come at once that nobody reads them all; it is painted half as often then. */
const BUSY = 40;
const SHOWN_BUSY = 50;
const GLYPHS = { created: "+", modified: "~", deleted: "−", redacted: "×" } as const;

/** The newest first, each once (after a broken connection some come again), and no more than the ring holds. */
function joined(newer: Row[], older: Row[], most = RING): Row[] {
  const byKey = new Map<string, Row>();
  for (const row of [...newer, ...older]) {
    const key = rowKey(row);
    if (!byKey.has(key)) byKey.set(key, row);
  }
  return [...byKey.values()].slice(0, most);
}

const rowKey = (row: Row): string => (row.type === "change" ? `${row.change.memory_store_id} ${row.change.seq}` : `gap ${row.gap.memory_store_id} ${row.gap.after}`);

export function FeedView() {
  const { query } = usePlace();
  const stores = useStores().data?.data ?? [];
  const state = useAtom(liveState);
  const offline = useAtom(isOffline);
  const [rows, setRows] = useState<Row[]>([]);
  const [isPaused, setPaused] = useState(false);
  const [isWhole, setWhole] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [said, setSaid] = useState("");
  const waiting = useRef<Row[]>([]);
  const [held, setHeld] = useState(0);
  const paused = useRef(false);
  paused.current = isPaused;
  const store = query.get("store") ?? "";
  const actor = query.get("actor") ?? "";
  const prefix = query.get("prefix") ?? "";
  const op = query.get("op") ?? "";
  const list = useRef<HTMLOListElement>(null);
  const pausing = (next: boolean) => {
    // Whoever goes on wants what is new, which is on top; further down the next row would pause it again.
    if (!next) list.current?.scrollTo(0, 0);
    setPaused(next);
  };

  useEffect(() => {
    let isGone = false;
    // What happened just before, so that the page is not empty on a quiet day.
    const wanted = stores.filter((row) => row.level !== "search" && (row.last_seq ?? 0) > 0).slice(0, 8);
    void Promise.all(
      wanted.map((row) =>
        api.changes(row.memory_store_id, Math.max(0, (row.last_seq ?? 0) - 30), 30).then(
          (page) => page.data.map((change): Row => ({ type: "change", change: { ...change, memory_store_id: row.memory_store_id } })),
          () => [],
        ),
      ),
    ).then((lists) => {
      if (isGone) return;
      const old = lists.flat().sort((a, b) => (a.type === "change" && b.type === "change" ? Date.parse(b.change.created_at) - Date.parse(a.change.created_at) : 0));
      setRows((now) => joined(now, old));
    });
    return () => {
      isGone = true;
    };
  }, [stores.length > 0]);

  useEffect(() => {
    let lastSaid = 0;
    let sinceSaid = 0;
    let turn = 0;
    const stops = [
      onChange((change) => {
        waiting.current.push({ type: "change", change });
      }),
      onGap((gap) => {
        waiting.current.push({ type: "gap", gap });
      }),
    ];
    const timer = setInterval(() => {
      if (waiting.current.length > RING) waiting.current = waiting.current.slice(-RING);
      if (paused.current) {
        setHeld(waiting.current.length);
        return;
      }
      setHeld(0);
      turn += 1;
      if (waiting.current.length > BUSY && turn % 2 === 0) return;
      setBusy(waiting.current.length > BUSY);
      if (waiting.current.length === 0) return;
      const fresh = waiting.current.reverse();
      waiting.current = [];
      sinceSaid += fresh.length;
      if (Date.now() - lastSaid > 10_000) {
        setSaid(`${plural(sinceSaid, "new change")}`);
        lastSaid = Date.now();
        sinceSaid = 0;
      }
      setRows((now) => joined(fresh, now));
    }, PAINT_MS);
    // Selecting text or scrolling away means reading: the rows hold still.
    const onSelect = () => {
      const selection = document.getSelection();
      if (selection && !selection.isCollapsed && selection.anchorNode?.parentElement?.closest(".feed")) setPaused(true);
    };
    document.addEventListener("selectionchange", onSelect);
    return () => {
      clearInterval(timer);
      stops.forEach((stop) => stop());
      document.removeEventListener("selectionchange", onSelect);
    };
  }, []);

  useKeys({ " ": () => pausing(!isPaused) });
  useCommands([{ label: isPaused ? "Resume the feed" : "Pause the feed", keys: "Space", run: () => pausing(!isPaused) }]);

  const fits = (row: Row): boolean => {
    if (row.type === "gap") return store === "" || row.gap.memory_store_id === store;
    const { change } = row;
    if (store !== "" && change.memory_store_id !== store) return false;
    if (op !== "" && change.operation !== op) return false;
    if (prefix !== "" && !(change.path ?? "").startsWith(prefix)) return false;
    if (actor === "") return true;
    const id = actorId(change.created_by) ?? "";
    return id === actor || (nameNow(id) ?? "").toLowerCase().includes(actor.toLowerCase());
  };
  const shown = rows.filter(fits);
  const most = isWhole ? RING * 2 : isBusy ? SHOWN_BUSY : SHOWN;
  const byId = new Map(stores.map((one) => [one.memory_store_id, one]));
  const drawn = (row: Row & { type: "change" }) => {
    const of = byId.get(row.change.memory_store_id);
    const mayUndo = mayEdit(of);
    const name = stores.length > 1 ? (of?.name ?? null) : null;
    return <Kept key={rowKey(row)} row={row} of={`${mayUndo} ${name} ${prefs.get().zone}`} draw={() => <FeedRow change={row.change} mayUndo={mayUndo} storeName={name} />} />;
  };
  const set = (name: string) => (event: Event) => go(withQuery({ [name]: (event.currentTarget as HTMLInputElement).value }), true);
  const loadGap = (gap: Gap) =>
    void attempt(async () => {
      // The newest of what is missing; what is still missing then stays a gap.
      const after = Math.max(gap.after, gap.until - RING);
      const page = await api.changes(gap.memory_store_id, after, gap.until - after);
      const more = page.data.reverse().map((change): Row => ({ type: "change", change: { ...change, memory_store_id: gap.memory_store_id } }));
      if (after > gap.after) more.push({ type: "gap", gap: { ...gap, until: after } });
      setRows((now) => joined(now.flatMap((row) => (row.type === "gap" && row.gap === gap ? more : [row])), [], RING * 2));
    }, "The gap could not be read");
  return (
    <>
      <Head
        title="Feed"
        note={state === "live" ? "Changes in every store you can read, as agents make them." : state === "lost" || offline ? "The connection is lost; when it is back, the feed goes on where it stopped." : "Connecting …"}
        acts={
          <>
            <Button icon={isPaused ? "play" : "pause"} hint="Space" aria-pressed={isPaused} onClick={() => pausing(!isPaused)}>
              {isPaused ? "Resume" : "Pause"}
            </Button>
            <Button onClick={() => setRows([])}>Clear</Button>
          </>
        }
      />
      <div class="filters">
        <select aria-label="Store" value={store} onChange={set("store")}>
          <option value="">all stores</option>
          {stores.map((row) => (
            <option key={row.memory_store_id} value={row.memory_store_id}>
              {seen(row.name)}
            </option>
          ))}
        </select>
        <select aria-label="What happened" value={op} onChange={set("op")}>
          <option value="">anything</option>
          {Object.keys(GLYPHS).map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        <input type="text" aria-label="Actor" placeholder="actor" value={actor} onChange={set("actor")} />
        <input type="text" aria-label="Below the path" placeholder="below /path/" value={prefix} onChange={set("prefix")} />
      </div>
      {isPaused && (
        <div class="sticky-note" role="status">
          <span>Paused, {plural(held, "new change")} waiting</span>
          <Button onClick={() => pausing(false)}>Resume</Button>
        </div>
      )}
      <p class="sr" role="status">
        {said}
      </p>
      {shown.length === 0 ? (
        <Empty title="Quiet.">
          <p>{rows.length === 0 ? "Nothing has happened yet. Changes appear here by themselves." : "Nothing fits these filters."}</p>
        </Empty>
      ) : (
        <ol
          class="feed"
          ref={list}
          tabIndex={0}
          aria-label={`The last ${count(shown.length)} changes`}
          onScroll={(event) => {
            if (event.currentTarget.scrollTop > 40 && !paused.current) setPaused(true);
          }}
        >
          {shown.slice(0, most).map((row) =>
            row.type === "gap" ? (
              <li key={rowKey(row)} class="feed-gap" data-after={row.gap.after} data-until={row.gap.until}>
                gap: {plural(row.gap.until - row.gap.after, "change")}{" "}
                <button type="button" class="link" onClick={() => loadGap(row.gap)}>
                  load
                </button>
              </li>
            ) : (
              drawn(row)
            ),
          )}
          {shown.length > most && (
            <li class="feed-gap">
              <button type="button" class="link" onClick={() => setWhole(true)}>
                show {count(shown.length - most)} older
              </button>
            </li>
          )}
        </ol>
      )}
    </>
  );
}

function FeedRow({ change, mayUndo, storeName }: { change: Change; mayUndo: boolean; storeName: string | null }) {
  const place = memoryPlace(change.memory_store_id, change.path, change.memory_id);
  const undo = () =>
    void attempt(
      () => undoWrites(change.memory_store_id, [{ memory_id: change.memory_id, path: change.path ?? "", revision: change.revision, operation: change.operation === "redacted" ? null : change.operation }]),
      "Not undone",
    );
  return (
    <li class="feed-row" data-seq={change.seq}>
      <time dateTime={change.created_at}>{clock(change.created_at)}</time>
      <ActorName actor={change.created_by} />
      <span class="op">
        <span aria-hidden="true">{GLYPHS[change.operation]}</span> {change.operation}
      </span>
      <span class="feed-path">
        <a class="path" href={href(place)}>
          {change.path === null ? "(redacted)" : seen(change.path)}
        </a>{" "}
        <span class="note">
          v{change.revision} {storeName && `in ${seen(storeName)}`} {change.reason !== "api" && change.reason !== "console" && seen(change.reason)} {change.kind && <Kind kind={change.kind} />}
        </span>
      </span>
      <span class="acts">
        <a href={href(memoryPlace(change.memory_store_id, change.path, change.memory_id, { tab: "history", v: String(change.revision) }))}>diff</a>
        {mayUndo && change.operation !== "redacted" && (
          <button type="button" class="link" onClick={undo}>
            undo
          </button>
        )}
      </span>
    </li>
  );
}
