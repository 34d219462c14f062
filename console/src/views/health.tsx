// How the server is: ready or not, how fresh the indexes are, latency and errors, and a look at everything it keeps.

import { useState } from "preact/hooks";
import * as api from "../api/routes";
import { useAtom } from "../state/atom";
import { useQuery } from "../state/query";
import { mayWrite, session } from "../state/session";
import { attempt, say } from "../state/toasts";
import { bytes, count, plural, seen } from "../text/format";
import { Badge, Button, Numbers, Time } from "../ui/basics";
import { Head } from "../ui/page";
import { Loaded } from "../ui/states";
import { ServerPlots } from "./overview";

export function Health() {
  const who = useAtom(session);
  const ready = useQuery("ready", () => api.ready());
  const embedding = useQuery("embedding", () => api.embedding());
  const overview = useQuery("overview:24", () => api.overview(24));
  const [checked, setChecked] = useState<Awaited<ReturnType<typeof api.check>> | null>(null);
  const [isChecking, setChecking] = useState(false);
  const check = async () => {
    setChecking(true);
    await attempt(async () => setChecked(await api.check()), "Not checked");
    setChecking(false);
  };
  const reembed = () =>
    void attempt(async () => {
      await api.reembed();
      say("All vectors are made anew in the background; search goes on meanwhile.");
      embedding.again();
    }, "Not started");
  return (
    <>
      <Head
        title="Health"
        note={
          <span class="acts">
            {ready.error ? <Badge tone="danger">does not accept writes</Badge> : ready.data ? <Badge tone="ok">accepts writes</Badge> : null}
            <span>
              Loci {who?.server.version}
              {who?.server.engine && ` on ${who.server.engine}`}
              {who?.server.started_at && (
                <>
                  , started <Time at={who.server.started_at} />
                </>
              )}
            </span>
          </span>
        }
      />
      <section class="section">
        <h2>Index freshness</h2>
        <Loaded query={embedding} what="The state of the indexes" rows={3}>
          {(state) => (
            <div class="form">
              <Numbers
                items={[
                  { label: "Changes without vectors yet", value: count(state.changes_behind), note: state.changes_behind === 0 ? "search by meaning is up to date" : `in ${plural(state.stores_behind, "store")}` },
                  { label: "Indexes in memory", value: count(state.indexes), note: bytes(state.index_bytes) },
                  { label: "Generation", value: count(state.generation), note: state.model ? `${seen(state.model)}, ${state.dims} dimensions` : "no model: search by word only" },
                ]}
              />
              {mayWrite() && state.model && (
                <div>
                  <Button onClick={reembed}>Make all vectors anew</Button>
                </div>
              )}
            </div>
          )}
        </Loaded>
      </section>
      <Loaded query={overview} what="Latency and errors" rows={3}>
        {(data) => <ServerPlots data={data} />}
      </Loaded>
      <section class="section">
        <h2>Everything that is kept</h2>
        <p class="muted">Reads all of it and compares: digests, chains, indexes. Large servers take a while; work goes on.</p>
        <div>
          <Button onClick={() => void check()} isBusy={isChecking}>
            {isChecking ? "Looking …" : "Look for damage"}
          </Button>
        </div>
        {checked && (
          <div role="status" class="card">
            <p>
              {checked.ok ? <Badge tone="ok">nothing is damaged</Badge> : <Badge tone="danger">{plural(checked.problems.length, "problem")}</Badge>} {plural(checked.stores, "store")}, {plural(checked.memories, "memory", "memories")},{" "}
              {plural(checked.versions, "version")}, {plural(checked.changes, "change")}, {plural(checked.vectors, "vector")}
            </p>
            {checked.problems.length > 0 && (
              <ul class="plain-list">
                {checked.problems.slice(0, 50).map((problem) => (
                  <li key={problem}>{seen(problem)}</li>
                ))}
              </ul>
            )}
          </div>
        )}
      </section>
      <section class="section">
        <h2>Copies</h2>
        <p class="acts">
          <a class="button" href="/v1/export" download="loci.jsonl">
            Export everything as JSON lines
          </a>
          <a class="button" href="/v1/backup" download="loci.db">
            Backup of the database
          </a>
        </p>
        <p class="note">An export has no keys and no sessions. A backup is a consistent database file, made while work goes on.</p>
      </section>
    </>
  );
}
