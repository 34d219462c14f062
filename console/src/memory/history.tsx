// The versions of a memory: who, when, what changed, and back to any of them.

import { useState } from "preact/hooks";
import * as api from "../api/routes";
import type { Entry, Version } from "../api/types";
import { useKeys } from "../state/keys";
import { useQuery } from "../state/query";
import { go, href, memoryPlace, storePlace, usePlace, withQuery } from "../state/router";
import { actorId } from "../state/names";
import { attempt } from "../state/toasts";
import { AttributeChips, Diff, tally } from "../text/diff";
import { absolute, bytes, seen } from "../text/format";
import { ActorName, Badge, Button, Time } from "../ui/basics";
import { Choice } from "../ui/dialog";
import { Loaded } from "../ui/states";
import { putBack, write } from "./acts";
import { RedactDialog } from "./dialogs";

interface HistoryProps {
  store: string;
  memory: string;
  entry: Entry | null;
  versions: Version[];
  mayChange: boolean;
  mayRedact: boolean;
}

export function History({ store, memory, entry, versions, mayChange, mayRedact }: HistoryProps) {
  const { query } = usePlace();
  const [redacting, setRedacting] = useState<Version | null>(null);
  const newest = versions[0]?.revision ?? 1;
  const right = Number(query.get("v") ?? newest);
  const left = Number(query.get("with") ?? right - 1);
  const pick = (v: number, other?: number) => go(withQuery({ v: String(v), with: other === undefined ? null : String(other) }), true);
  useKeys({
    "[": () => pick(Math.max(1, right - 1)),
    "]": () => pick(Math.min(newest, right + 1)),
    d: () => pick(right, Math.max(1, right - 1)),
  });
  const restore = (version: Version) =>
    void attempt(async () => {
      const { data } = await api.history(store, { memory_id: memory, view: "full", limit: 100 });
      const full = data.find((one) => one.id === version.id);
      if (!full || typeof full.content !== "string") throw new Error("its text is redacted, sealed, or too far back to be read here");
      const edit = entry ? putBack(full, entry.revision, memory) : putBack(full, null);
      const [outcome] = await write(store, [edit], "restore", (outcomes) => `Restored v${version.revision} as v${outcomes[0]?.entry.revision}`);
      if (outcome && !entry) go(memoryPlace(store, outcome.entry.path, outcome.entry.id));
    }, "Not restored");
  return (
    <div class="history">
      <ol class="versions" aria-label="Versions, newest first">
        {versions.map((version) => (
          <li key={version.id} class={`version ${version.revision === right ? "is-right" : ""} ${version.revision === left ? "is-left" : ""}`}>
            <a class="version-no" href={href(withQuery({ v: String(version.revision), with: null }))} aria-current={version.revision === right ? "true" : undefined}>
              v{version.revision}
            </a>
            <ActorName actor={version.created_by} />
            <span class="note">
              <Time at={version.created_at} />
            </span>
            <div class="version-more">
              {version.redacted_at ? (
                <>
                  <Badge tone="danger">redacted</Badge>
                  <span>
                    by <ActorName actor={version.redacted_by} /> <Time at={version.redacted_at} />
                  </span>
                  {version.redaction_reason && <span>“{seen(version.redaction_reason)}”</span>}
                </>
              ) : (
                <>
                  <span>{version.operation}</span>
                  {version.reason !== "api" && version.reason !== "console" && <span>{seen(version.reason)}</span>}
                  {version.size_bytes !== null && <span>{bytes(version.size_bytes)}</span>}
                  {version.revision !== right && (
                    <button type="button" class="link" onClick={() => pick(right, version.revision)}>
                      compare with v{right}
                    </button>
                  )}
                  {mayChange && version.revision !== entry?.revision && version.operation !== "deleted" && (
                    <button type="button" class="link" onClick={() => restore(version)}>
                      restore
                    </button>
                  )}
                  {mayRedact && (
                    <button type="button" class="link" onClick={() => setRedacting(version)}>
                      redact
                    </button>
                  )}
                  {actorId(version.created_by) && (
                    <a href={href(storePlace(store, `/revert?actor=${encodeURIComponent(actorId(version.created_by) ?? "")}&since=${encodeURIComponent(version.created_at)}`))}>all by them since</a>
                  )}
                </>
              )}
            </div>
          </li>
        ))}
      </ol>
      <Compare store={store} memory={memory} left={left} right={right} newest={newest} />
      {redacting && <RedactDialog store={store} version={redacting} onClose={() => setRedacting(null)} />}
    </div>
  );
}

function Compare({ store, memory, left, right, newest }: { store: string; memory: string; left: number; right: number; newest: number }) {
  const [mode, setMode] = useState<"unified" | "split">("unified");
  const query = useQuery(`live:${store}:versions:${memory}:${newest}`, () => api.history(store, { memory_id: memory, view: "full", limit: 100 }));
  return (
    <div class="section">
      <Loaded query={query} what="The texts of the versions">
        {({ data }) => {
          const after = data.find((version) => version.revision === right);
          const before = data.find((version) => version.revision === left);
          if (!after) return <p class="muted">v{right} is not among the newest 100 versions.</p>;
          const texts = [before?.content ?? "", after.content ?? ""] as const;
          const changes = tally(texts[0], texts[1]);
          return (
            <div class="form">
              <div class="head">
                <h2>
                  {before ? `v${left} → v${right}` : `v${right}`} <span class="note">{absolute(after.created_at)}</span>{" "}
                  <span class="note">
                    +{changes.added} −{changes.removed}
                  </span>
                </h2>
                <Choice label="Layout" value={mode} onChange={setMode} options={[{ id: "unified", text: "Unified" }, { id: "split", text: "Side by side" }]} />
              </div>
              <VersionState version={after} />
              {before && <VersionState version={before} />}
              <AttributeChips before={before?.attributes ?? null} after={after.attributes} />
              {before?.path && after.path && before.path !== after.path && (
                <p>
                  Moved from <code>{seen(before.path)}</code> to <code>{seen(after.path)}</code>
                </p>
              )}
              {!after.redacted_at && !before?.redacted_at && <Diff before={texts[0]} after={texts[1]} mode={mode} />}
              <p>
                <Button onClick={() => go(withQuery({ tab: null, v: null, with: null, as_of: after.created_at }))}>See the memory as it was then</Button>
              </p>
            </div>
          );
        }}
      </Loaded>
    </div>
  );
}

function VersionState({ version }: { version: Version }) {
  if (version.redacted_at) return <p class="muted">v{version.revision} was redacted: its text is gone for good.</p>;
  if (version.operation === "deleted") return <p class="muted">v{version.revision} is the deletion.</p>;
  if (version.is_sealed) return <p class="muted">v{version.revision} is sealed: the server cannot read it.</p>;
  return null;
}
