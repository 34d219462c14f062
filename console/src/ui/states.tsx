// What a part of the page shows when it has nothing, waits, or was refused; written for people.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError, isOffline } from "../api/http";
import { useAtom } from "../state/atom";
import type { Query } from "../state/query";
import { seen } from "../text/format";
import { Button } from "./basics";

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state">
      <p class="state-title">{title}</p>
      {children}
    </div>
  );
}

/** Grey lines after 150 ms, and a word after 10 s. */
export function Waiting({ rows = 6 }: { rows?: number }) {
  const [stage, setStage] = useState(0);
  useEffect(() => {
    const timers = [setTimeout(() => setStage(1), 150), setTimeout(() => setStage(2), 10_000)];
    return () => timers.forEach(clearTimeout);
  }, []);
  if (stage === 0) return <div class="waiting" aria-busy="true" />;
  return (
    <div class="waiting" aria-busy="true" role="status">
      <span class="sr">Loading</span>
      {Array.from({ length: rows }, (_, row) => (
        <div class="bone" key={row} />
      ))}
      {stage === 2 && <p class="note">Still waiting for the server.</p>}
    </div>
  );
}

/** A refusal: what failed, the request to ask the log for, and another try. */
export function Failed({ error, again, what }: { error: ApiError; again?: () => void; what: string }) {
  if (error.isMissing) return <Empty title="Nothing here, or you may not see it." />;
  if (error.isDenied) {
    return (
      <Empty title="Your access does not reach this.">
        <p class="note">{seen(error.message)}</p>
      </Empty>
    );
  }
  return (
    <div class="state state-failed" role="alert">
      <p class="state-title">{what} could not be read.</p>
      <p>{seen(error.message)}</p>
      {error.requestId && (
        <p class="note">
          Request <code>{error.requestId}</code>
        </p>
      )}
      {again && <Button onClick={again}>Try again</Button>}
    </div>
  );
}

/** What was read, or why it was not; old rows stay, dimmed. */
export function Loaded<T>({ query, what, children, rows }: { query: Query<T>; what: string; children: (data: T) => ComponentChildren; rows?: number }) {
  const offline = useAtom(isOffline);
  if (query.data !== undefined) {
    return (
      <div class={query.isOld ? "loaded old" : "loaded"} aria-busy={query.isLoading ? "true" : undefined}>
        {query.error && !offline && <Failed error={query.error} again={query.again} what={what} />}
        {children(query.data)}
      </div>
    );
  }
  if (query.error) return <Failed error={query.error} again={query.again} what={what} />;
  return <Waiting {...(rows ? { rows } : {})} />;
}
