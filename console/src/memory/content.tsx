// The text of a memory, rendered or as it is, with what is known about it beside.

import { useState } from "preact/hooks";
import type { Entry, Version } from "../api/types";
import { href, to, withQuery } from "../state/router";
import { Markdown } from "../text/markdown";
import { bytes, count, plural, seen } from "../text/format";
import { ActorName, Name, Time } from "../ui/basics";
import { Choice } from "../ui/dialog";
import { Button } from "../ui/basics";

const SHOWN_CHARACTERS = 40_000;

export function Content({ store, entry, versions }: { store: string; entry: Entry; versions: Version[] }) {
  const [mode, setMode] = useState<"rendered" | "source">("rendered");
  const [isWhole, setWhole] = useState(false);
  const text = entry.content ?? "";
  const shown = isWhole ? text : text.slice(0, SHOWN_CHARACTERS);
  return (
    <div class="memory">
      <div class="section">
        {entry.is_redacted ? (
          <p class="muted">The text of this version was redacted. Nobody can bring it back.</p>
        ) : entry.is_sealed ? (
          <p class="muted">This content was encrypted by a client. The server keeps it and cannot read it; whoever has the key reads it with the loci command or an SDK.</p>
        ) : (
          <>
            <div>
              <Choice label="How the text is shown" value={mode} onChange={setMode} options={[{ id: "rendered", text: "Rendered" }, { id: "source", text: "Source" }]} />
            </div>
            {text === "" ? <p class="muted">The text is empty.</p> : mode === "rendered" ? <Markdown text={shown} /> : <pre class="source" tabIndex={0}>{seen(shown)}</pre>}
            {shown.length < text.length && (
              <div class="more">
                <Button onClick={() => setWhole(true)}>Show all of it</Button>
                <span class="note">
                  first {count(shown.length)} of {count(text.length)} characters
                </span>
              </div>
            )}
          </>
        )}
      </div>
      <Side store={store} entry={entry} versions={versions} />
    </div>
  );
}

function Side({ store, entry, versions }: { store: string; entry: Entry; versions: Version[] }) {
  const head = versions.find((version) => version.revision === entry.revision);
  const first = versions.at(-1);
  return (
    <aside class="side" aria-label="About this memory">
      <dl>
        <div>
          <dt>Written by</dt>
          <dd>
            {head ? <ActorName actor={head.created_by} /> : <Name id={entry.owner} />} {head && head.reason !== "api" && <span class="note">({seen(head.reason)})</span>}
          </dd>
        </div>
        <div>
          <dt>Created</dt>
          <dd>
            <Time at={entry.created_at} /> {first?.revision === 1 && <ActorName actor={first.created_by} />}
          </dd>
        </div>
        {entry.summary && (
          <div>
            <dt>Summary</dt>
            <dd>{seen(entry.summary)}</dd>
          </div>
        )}
        <div>
          <dt>Tags</dt>
          <dd>
            {entry.tags.length === 0 && <span class="muted">none</span>}
            {entry.tags.map((tag) => (
              <a key={tag} class="tag" href={href(to(`/s/${encodeURIComponent(store)}`, { tag }))}>
                #{seen(tag)}
              </a>
            ))}
          </dd>
        </div>
        {entry.source && (
          <div>
            <dt>Source</dt>
            <dd>{seen(entry.source)}</dd>
          </div>
        )}
        {entry.scope && (
          <div>
            <dt>Scope</dt>
            <dd>{seen(entry.scope)}</dd>
          </div>
        )}
        {entry.expires_at && (
          <div>
            <dt>Expires</dt>
            <dd>
              <Time at={entry.expires_at} />
            </dd>
          </div>
        )}
        {entry.recalls && (
          <div>
            <dt>Recalled</dt>
            <dd>
              {plural(entry.recalls.count, "time")}
              {entry.recalls.actors !== undefined && ` by ${plural(entry.recalls.actors, "actor")}`}
              <div class="note">
                counted since <Time at={entry.recalls.since} />
              </div>
            </dd>
          </div>
        )}
        <div>
          <dt>Who can see it</dt>
          <dd>
            <a href={href(withQuery({ tab: "access" }))}>everybody with access, and why</a>
          </dd>
        </div>
        {entry.partition && (
          <div>
            <dt>Partition of</dt>
            <dd>
              <Name id={entry.partition} />
            </dd>
          </div>
        )}
        <div>
          <dt>Size</dt>
          <dd>{bytes(entry.size_bytes)}</dd>
        </div>
        <div>
          <dt>Id</dt>
          <dd>
            <code class="id">{entry.id}</code>
          </dd>
        </div>
        {entry.metadata && Object.keys(entry.metadata).length > 0 && (
          <div>
            <dt>Metadata</dt>
            <dd>
              <pre class="source" tabIndex={0}>{seen(JSON.stringify(entry.metadata, null, 1))}</pre>
            </dd>
          </div>
        )}
      </dl>
    </aside>
  );
}
