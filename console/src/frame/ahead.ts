// What the first lists will ask at the place where the page was opened, sent while it is still found out who is signed in: the server then
// works once for all of it, where the page would have waited three times. Nothing of it is shown before that is known.

import { readAhead } from "../api/ahead";
import { entriesPath, storesPath } from "../api/routes";
import { currentPlace, decoded } from "../state/router";
import { directoriesQuery, rowsQuery } from "../views/browse-questions";

export function askAhead(): void {
  const { path, query } = currentPlace();
  if (path === "/" || path.startsWith("/s/")) readAhead(storesPath);
  const listed = /^\/s\/([^/]+)$/.exec(path)?.[1];
  if (!listed) return;
  const store = decoded(listed);
  readAhead(entriesPath(store, rowsQuery(query)));
  readAhead(entriesPath(store, directoriesQuery("/", query.get("as_of"))));
}
