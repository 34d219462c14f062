// The store as it was: a bar whose ticks are real changes, to which it snaps. The present is the right end.

import { useRef, useState } from "preact/hooks";
import * as api from "../api/routes";
import { useKeys } from "../state/keys";
import { useQuery } from "../state/query";
import { go, withQuery } from "../state/router";
import { absolute, count } from "../text/format";
import { Button } from "../ui/basics";

const TICKS = 500;

export function PastBanner({ at }: { at: string }) {
  return (
    <div class="sticky-note" role="status">
      <span>
        You see <strong>{absolute(at)}</strong>. Read only. Today's access rules apply; redacted text stays redacted.
      </span>
      <Button hint="n" onClick={() => go(withQuery({ as_of: null }))}>
        Now
      </Button>
    </div>
  );
}

export function TimeBar({ store, lastSeq, asOf }: { store: string; lastSeq: number | null; asOf: string | null }) {
  // The ticks stay as they were when the bar was opened: a bar that grows under the pointer cannot be used.
  const opened = useRef<number | null>(null);
  opened.current ??= lastSeq;
  const after = Math.max(0, (opened.current ?? 0) - TICKS);
  const query = useQuery(opened.current === null ? null : `ticks:${store}:${opened.current}`, () => api.changes(store, after, TICKS));
  const times = (query.data?.data ?? []).map((change) => change.created_at);
  const index = asOf === null ? times.length : lastAtOrBefore(times, asOf);
  const [dragged, setDragged] = useState<number | null>(null);
  const settle = useRef<number | undefined>(undefined);
  const show = (to: number) => {
    const time = times[to];
    go(withQuery({ as_of: to >= times.length || time === undefined ? null : time }), true);
  };
  const older = () => times.length > 0 && show(Math.max(0, index - 1));
  const newer = () => asOf !== null && show(index + 1);
  useKeys({ "[": older, "]": newer, n: () => go(withQuery({ as_of: null })) });
  if (times.length === 0) return null;
  const shown = dragged ?? index;
  const time = times[shown];
  const text = shown >= times.length || time === undefined ? "now" : absolute(time);
  return (
    <section class="timebar" aria-label="The store as it was">
      <span>
        As of <strong>{text}</strong>
        {after > 0 && (
          <span class="note" title="Older moments by the address (as_of)">
            {" "}
            last {count(times.length)}
          </span>
        )}
      </span>
      <div>
        <Ticks times={times} index={shown} />
        <input
          type="range"
          aria-label="Moment"
          aria-valuetext={text}
          min={0}
          max={times.length}
          value={shown}
          onInput={(event) => {
            const to = Number(event.currentTarget.value);
            setDragged(to);
            window.clearTimeout(settle.current);
            settle.current = window.setTimeout(() => {
              setDragged(null);
              show(to);
            }, 250);
          }}
        />
      </div>
      <span class="acts">
        <Button hint="[" onClick={older} disabled={shown <= 0}>
          Older
        </Button>
        <Button hint="]" onClick={newer} disabled={asOf === null}>
          Newer
        </Button>
        <Button onClick={() => go(withQuery({ as_of: null }))} disabled={asOf === null}>
          Now
        </Button>
      </span>
    </section>
  );
}

function lastAtOrBefore(times: string[], moment: string): number {
  const at = Date.parse(moment);
  let found = 0;
  times.forEach((time, index) => {
    if (Date.parse(time) <= at) found = index;
  });
  return found;
}

/** How dense changes were: sixty columns over all of them, by number, as the bar below counts. */
function Ticks({ times, index }: { times: string[]; index: number }) {
  const columns = Math.min(60, times.length);
  const width = 600 / Math.max(1, times.length);
  const gaps = times.map((time, at) => (at === 0 ? 1e9 : Date.parse(time) - Date.parse(times[at - 1] ?? time)));
  const tallest = 16;
  if (times.length > 300) {
    const per = times.length / columns;
    return (
      <svg class="ticks" viewBox="0 0 600 18" preserveAspectRatio="none" aria-hidden="true">
        {Array.from({ length: columns }, (_, column) => {
          const first = Math.floor(column * per);
          const span = Date.parse(times[Math.min(times.length - 1, Math.floor((column + 1) * per))] ?? "") - Date.parse(times[first] ?? "");
          const height = Math.max(2, Math.min(tallest, 16 - Math.log10(Math.max(1, span / 1000)) * 2.5));
          return <rect key={column} class={first < index ? "ticks-past" : undefined} x={column * 10 + 2} y={18 - height} width="6" height={height} />;
        })}
      </svg>
    );
  }
  return (
    <svg class="ticks" viewBox="0 0 600 18" preserveAspectRatio="none" aria-hidden="true">
      {times.map((time, at) => {
        const height = Math.max(4, Math.min(tallest, 16 - Math.log10(Math.max(1, (gaps[at] ?? 1) / 1000)) * 2.5));
        return <rect key={`${time} ${at}`} class={at <= index ? "ticks-past" : undefined} x={at * width} y={18 - height} width={Math.max(0.6, Math.min(4, width - 1))} height={height} />;
      })}
    </svg>
  );
}
