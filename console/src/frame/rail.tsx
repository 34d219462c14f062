// The rail: where one can go. What the caller cannot use is not there; the store that is open has its own part.

import { useEffect, useState } from "preact/hooks";
import { atom, useAtom } from "../state/atom";
import { decoded, href, storePlace, usePlace } from "../state/router";
import { session } from "../state/session";
import { maySeeAccess, useStore } from "../state/stores";
import { seen } from "../text/format";
import { Icon, type IconName } from "../ui/icon";

export const isRailOpen = atom(false);

function Item({ to, icon, text, isHere }: { to: string; icon: IconName; text: string; isHere: boolean }) {
  return (
    <li>
      <a href={href(to)} aria-current={isHere ? "page" : undefined}>
        <Icon name={icon} />
        {text}
      </a>
    </li>
  );
}

export function Brand() {
  return (
    <>
      <svg width="24" height="24" viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="7" fill="#1d5fd1" />
        <path d="M10 7v15a3 3 0 0 0 3 3h9" fill="none" stroke="#fff" stroke-width="3.4" stroke-linecap="round" />
        <circle cx="21" cy="13" r="4.2" fill="#fff" />
      </svg>
      Loci
    </>
  );
}

export function Rail() {
  const { path } = usePlace();
  const who = useAtom(session);
  const isOpen = useAtom(isRailOpen);
  const [isNarrow, setNarrow] = useState(() => matchMedia("(max-width: 900px)").matches);
  useEffect(() => {
    const media = matchMedia("(max-width: 900px)");
    const listen = () => setNarrow(media.matches);
    media.addEventListener("change", listen);
    return () => media.removeEventListener("change", listen);
  }, []);
  useEffect(() => isRailOpen.set(false), [path]);
  const match = /^\/s\/([^/]+)(\/[a-z]+)?/.exec(path);
  const store = match?.[1] ? decoded(match[1]) : null;
  const part = match?.[2] ?? "";
  const isAdmin = who?.is_admin === true;
  return (
    <>
      <nav class={isOpen ? "rail is-open" : "rail"} aria-label="Console" hidden={isNarrow && !isOpen}>
        <a class="brand" href={href("/")}>
          <Brand />
        </a>
        <ul>
          <Item to="/" icon="stores" text="Stores" isHere={path === "/"} />
          <Item to="/search" icon="search" text="Search" isHere={path === "/search"} />
          <Item to="/feed" icon="feed" text="Feed" isHere={path === "/feed"} />
          <Item to="/overview" icon="overview" text="Overview" isHere={path === "/overview"} />
          {isAdmin && <Item to="/agents" icon="agents" text="Agents" isHere={path.startsWith("/agents")} />}
          <Item to="/sessions" icon="sessions" text="Sessions" isHere={path.startsWith("/sessions")} />
        </ul>
        {store && <StorePart store={store} part={part} />}
        {isAdmin && (
          <>
            <p class="rail-head">Administration</p>
            <ul>
              <Item to="/access" icon="access" text="Access" isHere={path === "/access"} />
              <Item to="/audit" icon="audit" text="Audit log" isHere={path === "/audit"} />
              <Item to="/keys" icon="keys" text="Keys" isHere={path === "/keys"} />
              <Item to="/health" icon="health" text="Health" isHere={path === "/health"} />
            </ul>
          </>
        )}
        <p class="rail-foot">Loci {who?.server.version}</p>
      </nav>
      {isNarrow && isOpen && <button type="button" class="veil" aria-label="Close the menu" onClick={() => isRailOpen.set(false)} />}
    </>
  );
}

function StorePart({ store, part }: { store: string; part: string }) {
  const row = useStore(store);
  const at = (rest: string) => storePlace(store, rest);
  const mayRead = row?.level !== "search";
  return (
    <>
      <p class="rail-head">{row ? seen(row.name) : "Store"}</p>
      <ul>
        <Item to={at("")} icon="folder" text="Memories" isHere={part === "" || part === "/m" || part === "/new"} />
        {mayRead && (
          <>
            <Item to={at("/knowledge")} icon="entities" text="Knowledge" isHere={part === "/knowledge"} />
            <Item to={at("/context")} icon="context" text="Context" isHere={part === "/context"} />
            {(!row || maySeeAccess(row)) && <Item to={at("/access")} icon="access" text="Who has access" isHere={part === "/access"} />}
            <Item to={at("/hygiene")} icon="hygiene" text="Hygiene" isHere={part === "/hygiene"} />
            <Item to={at("/revert")} icon="undo" text="Revert" isHere={part === "/revert"} />
          </>
        )}
        <Item to={at("/settings")} icon="settings" text="Settings" isHere={part === "/settings"} />
      </ul>
    </>
  );
}
