// The rows of a list of memories, with a cursor for keys and a selection for acts on many.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Entry } from "../api/types";
import { stepImportance, togglePin } from "../memory/acts";
import { useKeys } from "../state/keys";
import { go, href, memoryPlace, withQuery } from "../state/router";
import { attempt } from "../state/toasts";
import { bytes, plural, seen } from "../text/format";
import { Badge, Kind, Time } from "../ui/basics";
import { Icon } from "../ui/icon";
import { useCursor } from "../ui/page";
import { Kept } from "../ui/same";
import { BulkBar } from "./bulk";

interface TableProps {
  store: string;
  prefix: string;
  entries: Entry[];
  mayChange: boolean;
  asOf: string | null;
  /** Whether somebody is in the middle of something, so that rows must not move. */
  onBusy: (isBusy: boolean) => void;
}

const FIRST = 25;
/** Rows that the browser lays out and paints together, when they come near the screen. */
const BLOCK = 20;

export function EntryTable({ store, prefix, entries, mayChange, asOf, onBusy }: TableProps) {
  const [selected, setSelected] = useState<Set<string>>(new Set());
  const [anchor, setAnchor] = useState<number | null>(null);
  const [asked, setAsked] = useState<"tags" | null>(null);
  const open = (index: number) => {
    const entry = entries[index];
    if (entry) go(memoryPlace(store, entry.path, entry.id, { as_of: asOf }));
  };
  const { at, setAt } = useCursor(entries.length, open);
  const present = entries.filter((entry) => selected.has(entry.id));
  useEffect(() => onBusy(present.length > 0 || asked !== null), [present.length, asked]);
  const toggle = (index: number, isRange: boolean) => {
    const entry = entries[index];
    if (!entry) return;
    const next = new Set(selected);
    if (isRange && anchor !== null) {
      const [first, last] = anchor < index ? [anchor, index] : [index, anchor];
      for (const one of entries.slice(first, last + 1)) next.add(one.id);
    } else if (next.has(entry.id)) next.delete(entry.id);
    else next.add(entry.id);
    setAnchor(index);
    setSelected(next);
  };
  // Rows stay as they were drawn, so they call what is here now.
  const pick = useRef(toggle);
  pick.current = (index, isRange) => {
    setAt(index);
    toggle(index, isRange);
  };
  const current = entries[at];
  const onCurrent = (act: (entry: Entry) => Promise<unknown>) => () => {
    if (current && mayChange) void attempt(async () => void (await act(current)), "Not changed");
  };
  useKeys({
    x: () => at >= 0 && mayChange && toggle(at, false),
    "Shift x": () => at >= 0 && mayChange && toggle(at, true),
    p: onCurrent((entry) => togglePin(store, entry)),
    "+": onCurrent((entry) => stepImportance(store, entry, 10)),
    "-": onCurrent((entry) => stepImportance(store, entry, -10)),
    t: () => {
      if (!mayChange || !current) return;
      if (present.length === 0) setSelected(new Set([current.id]));
      setAsked("tags");
    },
    Escape: () => setSelected(new Set()),
  });
  // What fits on a screen first, so that it is there at once; the rest when that is painted.
  const [isWhole, setWhole] = useState(entries.length <= FIRST);
  useEffect(() => {
    const timer = setTimeout(() => setWhole(true), 0);
    return () => clearTimeout(timer);
  }, []);
  const blocks = [{ first: 0, rows: entries.slice(0, FIRST) }];
  for (let first = FIRST; isWhole && first < entries.length; first += BLOCK) blocks.push({ first, rows: entries.slice(first, first + BLOCK) });
  const isAll = present.length === entries.length && entries.length > 0;
  return (
    <>
      <table class={mayChange ? "table cards-narrow entries may-pick" : "table cards-narrow entries"}>
        <caption class="sr">Memories</caption>
        <thead>
          <tr>
            {mayChange && (
              <th scope="col">
                <input type="checkbox" aria-label="Select all that are shown" checked={isAll} indeterminate={present.length > 0 && !isAll} onChange={() => setSelected(isAll ? new Set() : new Set(entries.map((entry) => entry.id)))} />
              </th>
            )}
            <th scope="col">Path</th>
            <th scope="col">Kind</th>
            <th scope="col" class="num">Importance</th>
            <th scope="col">Tags</th>
            <th scope="col">Changed</th>
            <th scope="col" class="num">Version</th>
            <th scope="col" class="num">Size</th>
          </tr>
        </thead>
        {blocks.map(({ first, rows }) => (
          <tbody key={first}>
            {rows.map((entry, within) => {
              const index = first + within;
              const [isCurrent, isSelected] = [index === at, selected.has(entry.id)];
              const draw = () => (
                <EntryRow store={store} entry={entry} isCurrent={isCurrent} isSelected={isSelected} mayChange={mayChange} prefix={prefix} asOf={asOf} onPick={(isRange) => pick.current(index, isRange)} />
              );
              return <Kept key={entry.id} row={entry} of={`${index} ${isCurrent} ${isSelected} ${mayChange} ${asOf} ${prefix}`} draw={draw} />;
            })}
          </tbody>
        ))}
      </table>
      {mayChange && present.length > 0 && (
        <BulkBar
          store={store}
          entries={present}
          asked={asked}
          onAsked={() => setAsked(null)}
          onDone={() => {
            setSelected(new Set());
            setAsked(null);
          }}
        />
      )}
      <p class="sr" role="status">
        {present.length > 0 ? `${plural(present.length, "memory", "memories")} selected` : ""}
      </p>
    </>
  );
}

interface RowProps {
  store: string;
  entry: Entry;
  isCurrent: boolean;
  isSelected: boolean;
  mayChange: boolean;
  prefix: string;
  asOf: string | null;
  onPick: (isRange: boolean) => void;
}

function EntryRow({ store, entry, isCurrent, isSelected, mayChange, prefix, asOf, onPick }: RowProps) {
  return (
    <tr class={`${isCurrent ? "is-current" : ""} ${isSelected ? "is-selected" : ""}`}>
      {mayChange && (
        <td class="check-cell">
          <input type="checkbox" aria-label={`Select ${seen(entry.path)}`} checked={isSelected} onClick={(event) => onPick(event.shiftKey)} />
        </td>
      )}
      <td class="wide">
        {entry.pinned && (
          <span class="pin" title="pinned">
            <Icon name="pin" size={13} />
            <span class="sr">pinned </span>
          </span>
        )}
        <a class="path" href={href(memoryPlace(store, entry.path, entry.id, { as_of: asOf }))}>
          {seen(entry.path.startsWith(prefix) ? entry.path.slice(prefix.length) : entry.path)}
        </a>{" "}
        <EntryBadges entry={entry} />
        {entry.summary && <div class="note">{seen(entry.summary)}</div>}
      </td>
      <td data-label="Kind">
        <Kind kind={entry.kind} />
      </td>
      <td class="num" data-label="Importance">
        {entry.importance ?? <span class="muted">–</span>}
      </td>
      <td>
        {entry.tags.slice(0, 3).map((tag) => (
          <a key={tag} class="tag" href={href(withQuery({ tag }))}>
            #{seen(tag)}
          </a>
        ))}
        {entry.tags.length > 3 && <span class="note">{entry.tags.length - 3} more</span>}
      </td>
      <td data-label="Changed">
        <Time at={entry.updated_at} />
      </td>
      <td class="num" data-label="Version">
        v{entry.revision}
      </td>
      <td class="num" data-label="Size">
        {bytes(entry.size_bytes)}
      </td>
    </tr>
  );
}

/** What is special about a memory, in words. */
export function EntryBadges({ entry }: { entry: Entry }) {
  const isSoon = entry.expires_at !== null && Date.parse(entry.expires_at) - Date.now() < 7 * 86_400_000;
  return (
    <>
      {entry.is_sealed && <Badge title="Encrypted by a client; only its keys can read it">sealed</Badge>}
      {entry.is_redacted && <Badge tone="danger">redacted</Badge>}
      {entry.visibility !== "context" && (
        <Badge tone="warn" title={entry.visibility === "internal" ? "Models do not see it" : "Nobody's model sees it until it is approved"}>
          {entry.visibility}
        </Badge>
      )}
      {entry.expires_at && (
        <Badge tone={isSoon ? "warn" : "plain"}>
          expires <Time at={entry.expires_at} />
        </Badge>
      )}
    </>
  );
}
