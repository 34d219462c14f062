// What happened over time: writes, recalls and evictions, how stores grew, and how the server did.

import * as api from "../api/routes";
import type { Overview } from "../api/types";
import { useQuery } from "../state/query";
import { go, href, storePlace, usePlace, withQuery } from "../state/router";
import { count, seen } from "../text/format";
import { Numbers, Time } from "../ui/basics";
import { Plot } from "../ui/charts";
import { Choice } from "../ui/dialog";
import { Head } from "../ui/page";
import { Empty, Loaded } from "../ui/states";

const SPANS = [
  { id: "24", text: "24 hours" },
  { id: "168", text: "7 days" },
  { id: "720", text: "30 days" },
];

const sum = (values: (number | null)[]): number => values.reduce<number>((total, value) => total + (value ?? 0), 0);

export function OverviewView() {
  const { query: place } = usePlace();
  const hours = place.get("hours") ?? "24";
  const query = useQuery(`overview:${hours}`, () => api.overview(Number(hours)));
  return (
    <>
      <Head title="Overview" acts={<Choice label="How far back" value={hours} options={SPANS} onChange={(next) => go(withQuery({ hours: next }), true)} />} />
      <Loaded query={query} what="The overview">
        {(data) => (
          <div class="form">
            <Numbers
              items={[
                { label: "Writes", value: count(sum(data.writes)) },
                { label: "Recalls", value: count(sum(data.recalls)), note: data.known_since ? <>counted since <Time at={data.known_since} /></> : undefined },
                { label: "Evictions", value: count(sum(data.evictions)), note: "expired or over a cap" },
              ]}
            />
            <div class="plots">
              <Plot title="Writes" from={data.from} stepSeconds={data.step_seconds} as="bars" series={[{ name: "writes", values: data.writes, stroke: 0 }]} />
              <Plot
                title="Recalls and evictions"
                from={data.from}
                stepSeconds={data.step_seconds}
                series={[
                  { name: "recalls", values: data.recalls, stroke: 0 },
                  { name: "evictions", values: data.evictions, stroke: 2 },
                ]}
              />
            </div>
            <Growth data={data} />
            <ServerPlots data={data} />
          </div>
        )}
      </Loaded>
    </>
  );
}

function Growth({ data }: { data: Overview }) {
  if (data.stores.length === 0) return <Empty title="No store has grown." />;
  return (
    <section class="section">
      <h2>Growth</h2>
      <div class="plots">
        {data.stores.slice(0, 6).map((store) => (
          <div key={store.memory_store_id}>
            <Plot title={seen(store.name)} from={data.from} stepSeconds={data.step_seconds} series={[{ name: "memories", values: store.memories, stroke: 0 }]} />
            <a class="note" href={href(storePlace(store.memory_store_id))}>
              open {seen(store.name)}
            </a>
          </div>
        ))}
      </div>
    </section>
  );
}

/** The server's own figures, which administrators get. */
export function ServerPlots({ data }: { data: Overview }) {
  if (!data.requests || !data.errors || !data.latency_ms) return null;
  return (
    <section class="section">
      <h2>Server</h2>
      <div class="plots">
        <Plot
          title="Latency"
          from={data.from}
          stepSeconds={data.step_seconds}
          unit=" ms"
          series={[
            { name: "median", values: data.latency_ms.p50, stroke: 0 },
            { name: "slowest 1%", values: data.latency_ms.p99, stroke: 1 },
          ]}
        />
        <Plot
          title="Requests and errors"
          from={data.from}
          stepSeconds={data.step_seconds}
          series={[
            { name: "requests", values: data.requests, stroke: 0 },
            { name: "errors", values: data.errors, stroke: 2 },
          ]}
        />
      </div>
    </section>
  );
}
