// Access as a view: of one store, and of somebody over all stores.

import * as api from "../api/routes";
import type { Access, StoreRow } from "../api/types";
import { useQuery } from "../state/query";
import { go, href, storePlace, to, usePlace, withQuery } from "../state/router";
import { useStore, useStores } from "../state/stores";
import { seen } from "../text/format";
import { Button, Field, LevelBadge } from "../ui/basics";
import { Head } from "../ui/page";
import { Empty, Loaded } from "../ui/states";
import { AccessPanel, RuleText } from "./access-panel";

export function StoreAccess({ store }: { store: string }) {
  const row = useStore(store);
  return (
    <>
      <Head title="Who has access" crumbs={[{ text: "Stores", to: "/" }, { text: row?.name ?? "Store", to: storePlace(store) }]} />
      <AccessPanel store={store} />
    </>
  );
}

const ASKED_MAX = 60;

export function AccessEverywhere() {
  const { query } = usePlace();
  const who = query.get("who") ?? "";
  const people = useQuery("principals", () => api.principals());
  const stores = (useStores().data?.data ?? []).slice(0, ASKED_MAX);
  const answers = useQuery(who === "" || stores.length === 0 ? null : `access:everywhere:${who}:${stores.length}`, async () => {
    const found: { row: StoreRow; access: Access }[] = [];
    for (const row of stores) found.push({ row, access: await api.access(row.memory_store_id, who) });
    return found;
  });
  return (
    <>
      <Head title="Access" note="What somebody reaches, and by which rule. Answers are the server's own decisions." />
      <form
        class="form-row"
        onSubmit={(event) => {
          event.preventDefault();
          const input = new FormData(event.currentTarget).get("who");
          go(withQuery({ who: typeof input === "string" ? input.trim() : null }));
        }}
      >
        <Field label="Who">
          <input name="who" list="everybody" defaultValue={who} key={who} autocomplete="off" />
        </Field>
        <datalist id="everybody">
          {(people.data?.data ?? []).map((one) => (
            <option key={one.id} value={one.name} />
          ))}
        </datalist>
        <Button type="submit" tone="primary">
          Show
        </Button>
      </form>
      {who === "" ? (
        <Empty title="Choose somebody.">
          <p>You see every store they reach, and why. Access of one store is under Who has access of that store.</p>
        </Empty>
      ) : answers.error?.isMissing ? (
        <Empty title={`Nobody is called ${seen(who)}.`} />
      ) : (
        <Loaded query={answers} what="The access">
          {(rows) => (
            <table class="table cards-narrow">
              <caption class="sr">What {seen(who)} reaches</caption>
              <thead>
                <tr>
                  <th scope="col">Store</th>
                  <th scope="col">May</th>
                  <th scope="col">Because</th>
                </tr>
              </thead>
              <tbody>
                {[...rows]
                  .sort((a, b) => Number(a.access.level === "none") - Number(b.access.level === "none"))
                  .map(({ row, access }) => (
                    <tr key={row.memory_store_id}>
                      <td>
                        <a href={href(to(storePlace(row.memory_store_id, "/access"), { who }))}>{seen(row.name)}</a>
                      </td>
                      <td>
                        <LevelBadge level={access.is_switched_off ? "none" : access.level} />
                      </td>
                      <td class="wide">{access.is_switched_off ? "switched off by the operator" : access.matched ? <RuleText rule={access.matched} /> : <span class="muted">no rule</span>}</td>
                    </tr>
                  ))}
              </tbody>
            </table>
          )}
        </Loaded>
      )}
      {stores.length === ASKED_MAX && <p class="note">The first {ASKED_MAX} stores only.</p>}
    </>
  );
}
