// Who may open a view: what would only be refused, part by part, is said once and in words instead. The server decides all the same.

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { useAtom } from "../state/atom";
import { go } from "../state/router";
import { session } from "../state/session";
import { useStores } from "../state/stores";
import { seen } from "../text/format";
import { Button } from "../ui/basics";
import { Head } from "../ui/page";
import { Empty } from "../ui/states";

export function AdminGate({ children }: { children: ComponentChildren }) {
  const who = useAtom(session);
  if (who?.is_admin) return <>{children}</>;
  return (
    <>
      <Head title="Administration" />
      <Empty title="Only administrators see this." />
    </>
  );
}

/** Around every view of a store; `isOpen` is a view that search alone is enough for. */
export function StoreGate({ store, isOpen, children }: { store: string; isOpen: boolean; children: ComponentChildren }) {
  const stores = useStores();
  const row = stores.data?.data.find((one) => one.memory_store_id === store);
  // A store that was made just now is in the next list; what was missing stays so while that is read.
  const isMissing = useRef(false);
  if (row) isMissing.current = false;
  else if (stores.data && !stores.data.is_truncated && !stores.isLoading) isMissing.current = true;
  if (isMissing.current) {
    return (
      <>
        <Head title="Store" crumbs={[{ text: "Stores", to: "/" }]} />
        <Empty title="Nothing here, or you may not see it." />
      </>
    );
  }
  if (row?.level === "search" && !isOpen) {
    return (
      <>
        <Head title={row.name} crumbs={[{ text: "Stores", to: "/" }]} />
        <Empty title="You may search this store but not browse it.">
          <p>Search gives whole memories with their text; lists, history and the feed are not part of it. {row.owner ? `Ask ${seen(row.owner.name)} for more.` : "Ask its owner for more."}</p>
          <Button icon="search" tone="primary" onClick={() => go(`/search?store=${encodeURIComponent(store)}`)}>
            Search in it
          </Button>
        </Empty>
      </>
    );
  }
  return <>{children}</>;
}
