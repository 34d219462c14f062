// Where we are, which is all in the URL: a path under /console and its query. Links are ordinary links.

import { atom, useAtom } from "./atom";

export const BASE = "/console";

export interface Place {
  path: string;
  query: URLSearchParams;
}

function here(): Place {
  const raw = location.pathname.startsWith(BASE) ? location.pathname.slice(BASE.length) : "/";
  return { path: raw === "" ? "/" : raw, query: new URLSearchParams(location.search) };
}

const place = atom<Place>(here());

/** What must be asked before leaving, such as an unsaved draft; drafts are kept, so nothing asks today. */
export function go(to: string, replace = false): void {
  const target = BASE + to;
  if (target === location.pathname + location.search) return;
  if (replace) history.replaceState(null, "", target);
  else history.pushState(null, "", target);
  const before = place.get().path;
  place.set(here());
  if (!replace && before !== place.get().path) window.scrollTo(0, 0);
}

export function usePlace(): Place {
  return useAtom(place);
}

export const currentPlace = (): Place => place.get();

/** The same place with some of its query changed; `null` takes away. */
export function withQuery(changes: Record<string, string | null>): string {
  const { path, query } = place.get();
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** A place by its path and query. */
export function to(path: string, query: Record<string, string | null | undefined> = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) params.set(name, value);
  const text = params.toString();
  return text === "" ? path : `${path}?${text}`;
}

export const href = (inner: string): string => BASE + inner;

/** A part of an address as text; what is no proper encoding is taken as it stands. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const segments = (path: string): string => path.split("/").map(encodeURIComponent).join("/");

export const storePlace = (store: string, rest = ""): string => `/s/${encodeURIComponent(store)}${rest}`;
export const memoryPlace = (store: string, path: string | null, id: string, query: Record<string, string | null | undefined> = {}): string =>
  to(`/s/${encodeURIComponent(store)}/m${segments(path ?? "/")}`, { id, ...query });

/** Follows links inside the console without loading the page anew. */
export function listenToLinks(): void {
  addEventListener("popstate", () => place.set(here()));
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
    if (!link.pathname.startsWith(`${BASE}/`) && link.pathname !== BASE) return;
    if (link.hash && link.pathname === location.pathname) return;
    event.preventDefault();
    go(link.pathname.slice(BASE.length) + link.search || "/");
  });
}
