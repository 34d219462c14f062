// The audit log: what happened to access, newest first. Every line is chained to the one before it by a hash.

import { useState } from "preact/hooks";
import * as api from "../api/routes";
import type { AuditEvent } from "../api/types";
import { usePages } from "../state/query";
import { go, usePlace, withQuery } from "../state/router";
import { absolute, seen } from "../text/format";
import { ActorName, Button, Name, Time } from "../ui/basics";
import { download, Head, More } from "../ui/page";
import { Empty, Failed, Waiting } from "../ui/states";

const KINDS = ["principal_created", "principal_recast", "memory_switched", "key_created", "key_revoked", "store_archived", "store_removed", "grant_given", "grant_revoked", "member_added", "member_removed", "searched", "version_redacted", "memory_erased", "exported", "imported", "backed_up", "viewed_as"];

const plain = (kind: string): string => kind.replaceAll("_", " ");

/** The newest first. A server that cannot read backwards gives the log from its beginning; then it is turned around. */
async function page(before: string | undefined): Promise<{ data: AuditEvent[]; next_page: string | null }> {
  const answer = await api.events({ before: Number(before ?? 0), limit: 200 });
  const data = [...answer.data].sort((a, b) => b.seq - a.seq);
  const last = data.at(-1)?.seq ?? 1;
  return { data, next_page: last > 1 && data.length > 0 ? String(last) : null };
}

export function Audit() {
  const { query } = usePlace();
  const kind = query.get("kind") ?? "";
  const pages = usePages<AuditEvent>("audit", page);
  const [open, setOpen] = useState<number | null>(null);
  const rows = pages.rows.filter((event) => kind === "" || event.kind === kind);
  const save = () => download("audit.csv", [["seq", "at", "kind", "principal", "actor", "store", "subject", "detail", "hash"], ...rows.map((event) => [event.seq, event.at, event.kind, event.principal, JSON.stringify(event.actor), event.store, event.subject, event.detail, event.hash])]);
  return (
    <>
      <Head title="Audit log" note="Who was given what, by whom, and what search-only access was used for." acts={<Button onClick={save}>Save as CSV</Button>} />
      <div class="filters">
        <select aria-label="What happened" value={kind} onChange={(event) => go(withQuery({ kind: event.currentTarget.value }), true)}>
          <option value="">anything</option>
          {KINDS.map((one) => (
            <option key={one} value={one}>
              {plain(one)}
            </option>
          ))}
        </select>
      </div>
      {pages.error ? (
        <Failed error={pages.error} again={pages.again} what="The audit log" />
      ) : pages.isLoading && pages.rows.length === 0 ? (
        <Waiting />
      ) : rows.length === 0 ? (
        <Empty title="No such event among those that were loaded." />
      ) : (
        <table class="table cards-narrow">
          <caption class="sr">Events</caption>
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">Who</th>
              <th scope="col">What</th>
              <th scope="col">About</th>
              <th scope="col">Store</th>
              <th scope="col">More</th>
              <th scope="col">
                <span class="sr">Acts</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((event) => (
              <>
                <tr key={event.seq}>
                  <td>
                    <Time at={event.at} />
                  </td>
                  <td>{event.actor ? <ActorName actor={event.actor} /> : <Name id={event.principal} />}</td>
                  <td class="nowrap">{plain(event.kind)}</td>
                  <td data-label="About">
                    <Name id={event.subject} />
                  </td>
                  <td data-label="Store">{event.store ? <Name id={event.store} /> : ""}</td>
                  <td class="wide">{event.detail ? seen(event.detail) : ""}</td>
                  <td>
                    <Button aria-expanded={open === event.seq} onClick={() => setOpen(open === event.seq ? null : event.seq)} aria-label={`JSON of event ${event.seq}`}>
                      JSON
                    </Button>
                  </td>
                </tr>
                {open === event.seq && (
                  <tr key={`${event.seq} open`}>
                    <td colSpan={7}>
                      <pre class="source" tabIndex={0}>{seen(JSON.stringify(event, null, 1))}</pre>
                      <p class="note">{absolute(event.at)}</p>
                    </td>
                  </tr>
                )}
              </>
            ))}
          </tbody>
        </table>
      )}
      <More shown={pages.rows.length} hasMore={pages.hasMore} isLoading={pages.isLoading} more={pages.more} what="events" />
    </>
  );
}
