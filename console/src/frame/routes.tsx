// Which view belongs to which place. Views are loaded when they are first wanted; the first list is there at once.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import * as api from "../api/routes";
import { currentPlace, usePlace } from "../state/router";
import { Empty, Waiting } from "../ui/states";
import { Button } from "../ui/basics";

interface ViewProps {
  store: string;
  rest: string;
}

type Loader = () => Promise<ComponentType<ViewProps>>;

const ROUTES: [RegExp, Loader][] = [
  [/^\/$/, () => import("../views/stores").then((m) => m.Stores as ComponentType<ViewProps>)],
  [/^\/overview$/, () => import("../views/overview").then((m) => m.OverviewView as ComponentType<ViewProps>)],
  [/^\/search$/, () => import("../views/search").then((m) => m.SearchView as ComponentType<ViewProps>)],
  [/^\/feed$/, () => import("../views/feed").then((m) => m.FeedView as ComponentType<ViewProps>)],
  [/^\/agents$/, () => import("../views/agents").then((m) => m.Agents as ComponentType<ViewProps>)],
  [/^\/agents\/(?<rest>[^/]+)$/, () => import("../views/agent").then((m) => m.AgentView)],
  [/^\/access$/, () => import("../views/access").then((m) => m.AccessEverywhere as ComponentType<ViewProps>)],
  [/^\/audit$/, () => import("../views/audit").then((m) => m.Audit as ComponentType<ViewProps>)],
  [/^\/keys$/, () => import("../views/keys").then((m) => m.Keys as ComponentType<ViewProps>)],
  [/^\/sessions$/, () => import("../views/sessions").then((m) => m.Sessions as ComponentType<ViewProps>)],
  [/^\/sessions\/(?<rest>[^/]+)$/, () => import("../views/sessions").then((m) => m.SessionView)],
  [/^\/health$/, () => import("../views/health").then((m) => m.Health as ComponentType<ViewProps>)],
  [/^\/s\/(?<store>[^/]+)$/, () => import("../views/browse").then((m) => m.Browse)],
  [/^\/s\/(?<store>[^/]+)\/m(?<rest>\/.*)$/, () => import("../memory/memory").then((m) => m.MemoryView)],
  [/^\/s\/(?<store>[^/]+)\/new$/, () => import("../memory/create").then((m) => m.CreateMemory)],
  [/^\/s\/(?<store>[^/]+)\/knowledge$/, () => import("../views/knowledge").then((m) => m.Knowledge)],
  [/^\/s\/(?<store>[^/]+)\/context$/, () => import("../views/context").then((m) => m.StoreContext)],
  [/^\/s\/(?<store>[^/]+)\/access$/, () => import("../views/access").then((m) => m.StoreAccess)],
  [/^\/s\/(?<store>[^/]+)\/hygiene$/, () => import("../views/hygiene").then((m) => m.Hygiene)],
  [/^\/s\/(?<store>[^/]+)\/revert$/, () => import("../views/revert").then((m) => m.Revert)],
  [/^\/s\/(?<store>[^/]+)\/settings$/, () => import("../views/settings").then((m) => m.StoreSettings)],
];

const loaded = new Map<Loader, ComponentType<ViewProps>>();

function Later({ loader, props }: { loader: Loader; props: ViewProps }) {
  const [, draw] = useState(0);
  const [isFailed, setFailed] = useState(false);
  const fetchView = () => {
    setFailed(false);
    loader().then(
      (view) => {
        loaded.set(loader, view);
        draw((count) => count + 1);
      },
      () => {
        setFailed(true);
        // Tells a server that is gone from one that was upgraded; the banner says the first.
        void api.ready().catch(() => undefined);
      },
    );
  };
  useEffect(() => {
    if (!loaded.has(loader)) fetchView();
    // It may have come after this was drawn and before anybody looked again.
    else draw((count) => count + 1);
  }, [loader]);
  const View = loaded.get(loader);
  if (View) return <View key={`${props.store} ${props.rest}`} {...props} />;
  if (!isFailed) return <Waiting />;
  return (
    <Empty title="This view could not be loaded.">
      <p>The server cannot be reached, or it was upgraded since this page was opened.</p>
      <Button onClick={() => location.reload()}>Load the page again</Button>
    </Empty>
  );
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** Begins to load the view of this place while it is still found out who is signed in. */
export function warm(): void {
  const { path } = currentPlace();
  const found = ROUTES.find(([pattern]) => pattern.test(path));
  // One that cannot be loaded is said when it is shown.
  found?.[1]().then((view) => loaded.set(found[1], view)).catch(() => undefined);
}

export function Routes() {
  const { path } = usePlace();
  for (const [pattern, loader] of ROUTES) {
    const match = pattern.exec(path);
    if (match) return <Later loader={loader} props={{ store: decoded(match.groups?.["store"] ?? ""), rest: decoded(match.groups?.["rest"] ?? "") }} />;
  }
  return (
    <Empty title="There is no such page.">
      <p>
        <a href="/console/">All stores</a> is a good place to start.
      </p>
    </Empty>
  );
}
