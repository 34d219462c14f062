// Sessions of agents: which stores each has, the note its model gets, and everything it wrote.

import * as api from "../api/routes";
import type { AgentSession } from "../api/types";
import { usePages, useQuery } from "../state/query";
import { href, storePlace, to } from "../state/router";
import { seen } from "../text/format";
import { Badge, Time } from "../ui/basics";
import { Head, More } from "../ui/page";
import { Empty, Failed, Loaded, Waiting } from "../ui/states";

const titleOf = (one: AgentSession): string => one.title || `Session of ${one.agent.name}`;

export function Sessions() {
  const pages = usePages<AgentSession>("sessions", (page) => api.sessions(page));
  return (
    <>
      <Head title="Sessions" note="What agents had open, and with which stores." />
      {pages.error ? (
        <Failed error={pages.error} again={pages.again} what="The sessions" />
      ) : pages.isLoading && pages.rows.length === 0 ? (
        <Waiting />
      ) : pages.rows.length === 0 ? (
        <Empty title="No session yet.">
          <p>A session appears when an agent opens one over the Memory Stores API with stores attached.</p>
        </Empty>
      ) : (
        <table class="table cards-narrow">
          <caption class="sr">Sessions</caption>
          <thead>
            <tr>
              <th scope="col">Title</th>
              <th scope="col">Agent</th>
              <th scope="col">Status</th>
              <th scope="col">Stores</th>
              <th scope="col">Began</th>
            </tr>
          </thead>
          <tbody>
            {pages.rows.map((one) => (
              <tr key={one.id}>
                <td class="wide">
                  <a href={href(`/sessions/${encodeURIComponent(one.id)}`)}>{seen(titleOf(one))}</a> {one.archived_at && <Badge tone="warn">archived</Badge>}
                </td>
                <td>{seen(one.agent.name)}</td>
                <td>{one.status}</td>
                <td>{one.resources.map((resource) => seen(resource.name)).join(", ") || <span class="muted">none</span>}</td>
                <td data-label="Began">
                  <Time at={one.created_at} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <More shown={pages.rows.length} hasMore={pages.hasMore} isLoading={pages.isLoading} more={pages.more} what="sessions" />
    </>
  );
}

export function SessionView({ rest: id }: { rest: string }) {
  const query = useQuery(`session:${id}`, () => api.agentSession(id));
  const note = useQuery(`session-note:${id}`, () => api.sessionNote(id));
  return (
    <Loaded query={query} what="This session">
      {(one) => (
        <div class="form">
          <Head
            title={titleOf(one)}
            crumbs={[{ text: "Sessions", to: "/sessions" }]}
            note={
              <span class="acts">
                {seen(one.agent.name)}, {one.status}, began <Time at={one.created_at} /> <code class="id">{one.id}</code>
              </span>
            }
            acts={
              <a class="button" href={href(to("/feed", { actor: one.id }))}>
                Its changes in the feed
              </a>
            }
          />
          <section class="section">
            <h2>Stores</h2>
            {one.resources.length === 0 ? (
              <p class="muted">None is attached.</p>
            ) : (
              <table class="table cards-narrow">
                <caption class="sr">Stores of this session</caption>
                <thead>
                  <tr>
                    <th scope="col">Store</th>
                    <th scope="col">Access</th>
                    <th scope="col">Seen by the model as</th>
                    <th scope="col">What it wrote</th>
                  </tr>
                </thead>
                <tbody>
                  {one.resources.map((resource) => (
                    <tr key={resource.memory_store_id}>
                      <td class="wide">
                        <a href={href(storePlace(resource.memory_store_id))}>{seen(resource.name)}</a>
                      </td>
                      <td>{resource.access.replace("_", " ")}</td>
                      <td>
                        <code>{seen(resource.mount_path)}</code>
                      </td>
                      <td>
                        <a href={href(to(storePlace(resource.memory_store_id, "/revert"), { actor: one.id, since: one.created_at }))}>see it, or take it back</a>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </section>
          <section class="section">
            <h2>The note that its model gets</h2>
            <Loaded query={note} what="The note" rows={2}>
              {({ text }) => (text === "" ? <p class="muted">Empty.</p> : <pre class="source" tabIndex={0}>{seen(text)}</pre>)}
            </Loaded>
          </section>
        </div>
      )}
    </Loaded>
  );
}
