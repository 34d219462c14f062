// Facts as a table: what is so, since when, until when, and which memories say it.

import * as api from "../api/routes";
import type { Fact } from "../api/types";
import { changed } from "../state/query";
import { href, storePlace, to } from "../state/router";
import { attempt, say } from "../state/toasts";
import { absolute, day, seen } from "../text/format";
import { Badge, Button, Time } from "../ui/basics";

/** When a fact holds, drawn on one line that all rows share. */
function Validity({ fact, from, until }: { fact: Fact; from: number; until: number }) {
  const x = (time: number) => 4 + ((time - from) / Math.max(1, until - from)) * 152;
  const start = x(Math.max(from, Date.parse(fact.valid_at ?? fact.created_at)));
  const end = fact.invalid_at ? x(Math.min(until, Date.parse(fact.invalid_at))) : 156;
  const since = fact.valid_at ? `since ${day(fact.valid_at)}` : "since it was learned";
  const text = fact.invalid_at ? `${since}, until ${day(fact.invalid_at)}` : `${since}, still so`;
  return (
    <svg class="validity" viewBox="0 0 160 12" role="img" aria-label={text}>
      <title>{text}</title>
      <line class="validity-line" x1="4" x2="156" y1="6" y2="6" />
      <line class={fact.invalid_at ? "validity-over" : "validity-span"} x1={start} x2={Math.max(start + 3, end)} y1="6" y2="6" />
    </svg>
  );
}

export function FactTable({ store, facts, mayDismiss }: { store: string; facts: Fact[]; mayDismiss: boolean }) {
  const times = facts.flatMap((fact) => [fact.valid_at ?? fact.created_at, fact.invalid_at].filter((time): time is string => time !== null).map(Date.parse));
  const from = Math.min(...times, Date.now() - 86_400_000);
  const until = Math.max(...times, Date.now());
  const dismiss = (fact: Fact) =>
    void attempt(async () => {
      await api.dismissFact(store, fact.id);
      changed(`live:${store}`);
      say(`No longer known: ${fact.text}. The memories that say it are kept.`);
    }, "Not taken away");
  return (
    <table class="table cards-narrow">
      <caption class="sr">Facts</caption>
      <thead>
        <tr>
          <th scope="col">Fact</th>
          <th scope="col">Holds</th>
          <th scope="col">Learned</th>
          <th scope="col" class="num">Sure</th>
          <th scope="col">Said by</th>
          {mayDismiss && (
            <th scope="col">
              <span class="sr">Acts</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {facts.map((fact) => (
          <tr key={fact.id}>
            <td class="wide">
              <a href={href(to(storePlace(store, "/knowledge"), { about: fact.subject }))}>{seen(fact.subject)}</a> <span class="muted">{words(fact.relation)}</span>{" "}
              <a href={href(to(storePlace(store, "/knowledge"), { about: fact.object }))}>{seen(fact.object)}</a> {fact.is_negated && <Badge tone="warn">not so</Badge>} {fact.invalid_at && <Badge>over</Badge>}
              <div class="note">{seen(fact.text)}</div>
            </td>
            <td data-label="Holds">
              <Validity fact={fact} from={from} until={until} />
            </td>
            <td data-label="Learned" title={`read by ${fact.reader}, ${absolute(fact.created_at)}`}>
              <Time at={fact.created_at} />
            </td>
            <td class="num" data-label="Sure">
              {Math.round(fact.confidence * 100)}%
            </td>
            <td data-label="Said by">
              {fact.memory_ids.slice(0, 3).map((id, index) => (
                <>
                  {index > 0 && ", "}
                  <a key={id} href={href(to(`${storePlace(store)}/m/`, { id }))}>
                    memory {fact.memory_ids.length > 1 ? index + 1 : ""}
                  </a>
                </>
              ))}
              {fact.memory_ids.length > 3 && ` and ${fact.memory_ids.length - 3} more`}
            </td>
            {mayDismiss && (
              <td>
                <Button onClick={() => dismiss(fact)} title="Take this fact away and keep the memories that say it">
                  Not so
                </Button>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** `EmployedAt` as words. */
export const words = (relation: string): string => relation.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
