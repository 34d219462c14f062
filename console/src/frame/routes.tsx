// Which view belongs to which place. The lists that people begin with are there at once; the others are loaded when they are first wanted.

import type { ComponentType } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import * as api from "../api/routes";
import { currentPlace, decoded, usePlace } from "../state/router";
import { Button } from "../ui/basics";
import { Empty, Waiting } from "../ui/states";
import { Browse } from "../views/browse";
import { Stores } from "../views/stores";
import { AdminGate, StoreGate } from "./gate";

interface ViewProps {
  store: string;
  rest: string;
}

type Loader = () => Promise<ComponentType<ViewProps>>;

const loaded = new Map<Loader, ComponentType<ViewProps>>();

/** A view that is part of the first script. */
function atOnce(view: ComponentType<ViewProps>): Loader {
  const loader = () => Promise.resolve(view);
  loaded.set(loader, view);
  return loader;
}

const ROUTES: [RegExp, Loader][] = [
  [/^\/$/, atOnce(Stores as ComponentType<ViewProps>)],
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
  [/^\/s\/(?<store>[^/]+)$/, atOnce(Browse)],
  [/^\/s\/(?<store>[^/]+)\/m(?<rest>\/.*)$/, () => import("../memory/memory").then((m) => m.MemoryView)],
  [/^\/s\/(?<store>[^/]+)\/new$/, () => import("../memory/create").then((m) => m.CreateMemory)],
  [/^\/s\/(?<store>[^/]+)\/knowledge$/, () => import("../views/knowledge").then((m) => m.Knowledge)],
  [/^\/s\/(?<store>[^/]+)\/context$/, () => import("../views/context").then((m) => m.StoreContext)],
  [/^\/s\/(?<store>[^/]+)\/access$/, () => import("../views/access").then((m) => m.StoreAccess)],
  [/^\/s\/(?<store>[^/]+)\/hygiene$/, () => import("../views/hygiene").then((m) => m.Hygiene)],
  [/^\/s\/(?<store>[^/]+)\/revert$/, () => import("../views/revert").then((m) => m.Revert)],
  [/^\/s\/(?<store>[^/]+)\/settings$/, () => import("../views/settings").then((m) => m.StoreSettings)],
];

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
  useLayoutEffect(() => {
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

/** Begins to load the view of this place while it is still found out who is signed in. */
export function warm(): void {
  const { path } = currentPlace();
  const found = ROUTES.find(([pattern]) => pattern.test(path));
  // One that cannot be loaded is said when it is shown.
  found?.[1]().then((view) => loaded.set(found[1], view)).catch(() => undefined);
}

const ADMINS = /^\/(agents|access|audit|keys|health)(\/|$)/;

export function Routes() {
  const { path } = usePlace();
  for (const [pattern, loader] of ROUTES) {
    const match = pattern.exec(path);
    if (!match) continue;
    const props = { store: decoded(match.groups?.["store"] ?? ""), rest: decoded(match.groups?.["rest"] ?? "") };
    const view = <Later loader={loader} props={props} />;
    if (ADMINS.test(path)) return <AdminGate>{view}</AdminGate>;
    if (props.store === "") return view;
    return (
      <StoreGate key={props.store} store={props.store} isOpen={path.endsWith("/settings")}>
        {view}
      </StoreGate>
    );
  }
  return (
    <Empty title="There is no such page.">
      <p>
        <a href="/console/">All stores</a> is a good place to start.
      </p>
    </Empty>
  );
}
