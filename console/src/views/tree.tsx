// The directories of a store, one level at a time; only what is open is read.

import { useEffect, useState } from "preact/hooks";
import * as api from "../api/routes";
import type { Directory } from "../api/types";
import { useQuery } from "../state/query";
import { href, storePlace, withQuery } from "../state/router";
import { leaf, seen } from "../text/format";
import { Icon } from "../ui/icon";
import { directoriesQuery } from "./browse-questions";

interface TreeProps {
  store: string;
  prefix: string;
  asOf: string | null;
}

/** All directories directly below one; pages are followed up to a bound, and the rest is said. */
async function directoriesBelow(store: string, prefix: string, asOf: string | null): Promise<{ data: Directory[]; hasMore: boolean }> {
  const data: Directory[] = [];
  let page: string | undefined;
  for (let turn = 0; turn < 3; turn += 1) {
    const answer = await api.entries(store, directoriesQuery(prefix, asOf, page));
    data.push(...answer.data.filter((one): one is Directory => one.type === "directory"));
    if (!answer.next_page) return { data, hasMore: false };
    page = answer.next_page;
  }
  return { data, hasMore: true };
}

function Level({ store, below, prefix, asOf }: TreeProps & { below: string }) {
  const query = useQuery(`${asOf ? "past" : "tree"}:${store}:${below}:${asOf ?? ""}`, () => directoriesBelow(store, below, asOf));
  if (!query.data) return query.error ? <p class="note">Not read: {query.error.message}</p> : null;
  return (
    <ul>
      {query.data.data.map((directory) => (
        <Branch key={directory.path} directory={directory} store={store} prefix={prefix} asOf={asOf} />
      ))}
      {query.data.hasMore && <li class="note">More are not shown; filter by path.</li>}
    </ul>
  );
}

function Branch({ directory, store, prefix, asOf }: TreeProps & { directory: Directory }) {
  const isInside = prefix.startsWith(directory.path);
  const [isOpen, setOpen] = useState(isInside);
  useEffect(() => {
    if (isInside) setOpen(true);
  }, [isInside]);
  const name = seen(leaf(directory.path).replace(/\/$/, ""));
  return (
    <li>
      <div class={prefix === directory.path ? "tree-row is-open" : "tree-row"}>
        <button type="button" aria-expanded={isOpen} aria-label={`Directories in ${name}`} onClick={() => setOpen(!isOpen)}>
          <Icon name="chevron" size={14} />
        </button>
        <a href={href(withQuery({ path: directory.path }))} aria-current={prefix === directory.path ? "true" : undefined}>
          <span>{name}</span>
        </a>
      </div>
      {isOpen && <Level below={directory.path} store={store} prefix={prefix} asOf={asOf} />}
    </li>
  );
}

export function Tree({ store, prefix, asOf }: TreeProps) {
  return (
    <nav class="tree" aria-label="Directories">
      <div class={prefix === "/" ? "tree-row is-open" : "tree-row"}>
        <a href={href(asOf ? withQuery({ path: null }) : storePlace(store))} aria-current={prefix === "/" ? "true" : undefined}>
          <span>Everything</span>
        </a>
      </div>
      <Level below="/" store={store} prefix={prefix} asOf={asOf} />
    </nav>
  );
}
