// The filters of a list of memories; all of them live in the address.

import type { EntriesQuery } from "../api/routes";
import { go, withQuery } from "../state/router";
import { seen } from "../text/format";
import { Icon } from "../ui/icon";
import { NAMES, WITHIN } from "./browse-questions";

const set = (name: string) => (event: Event) => go(withQuery({ [name]: (event.currentTarget as HTMLInputElement | HTMLSelectElement).value }), true);

export function Filters({ filters, kinds }: { filters: EntriesQuery; kinds: string[] }) {
  const query = new URLSearchParams(location.search);
  const all = [...new Set([...kinds, ...(filters.kind ? [filters.kind] : [])])].sort();
  const active = NAMES.filter((name) => query.get(name));
  const text = (name: (typeof NAMES)[number]): string => {
    const value = query.get(name) ?? "";
    if (name === "pin") return "pinned";
    if (name === "expiring") return "expires in 7 days";
    if (name === "within") return WITHIN[value]?.[0] ?? value;
    return `${name} ${value}`;
  };
  return (
    <>
      <div class="filters" role="search" aria-label="Filters">
        <select aria-label="Kind" value={filters.kind ?? ""} onChange={set("kind")}>
          <option value="">any kind</option>
          {all.map((kind) => (
            <option key={kind} value={kind}>
              {seen(kind)}
            </option>
          ))}
        </select>
        <input type="text" aria-label="Tag" placeholder="tag" value={filters.tag ?? ""} onChange={set("tag")} />
        <input type="text" aria-label="Source" placeholder="source" value={filters.source ?? ""} onChange={set("source")} />
        <select aria-label="Changed" value={query.get("within") ?? ""} onChange={set("within")}>
          <option value="">changed any time</option>
          {Object.entries(WITHIN).map(([id, [label]]) => (
            <option key={id} value={id}>
              {label}
            </option>
          ))}
        </select>
        <select aria-label="Order" value={query.get("sort") ?? "updated-desc"} onChange={set("sort")}>
          <option value="updated-desc">last changed first</option>
          <option value="updated-asc">longest unchanged first</option>
          <option value="created-desc">newest first</option>
          <option value="created-asc">oldest first</option>
          <option value="path-asc">by path</option>
        </select>
        <label class="check">
          <input type="checkbox" checked={filters.pinned === true} onChange={(event) => go(withQuery({ pin: event.currentTarget.checked ? "1" : null }), true)} />
          Pinned
        </label>
        <label class="check">
          <input type="checkbox" checked={query.get("expiring") === "1"} onChange={(event) => go(withQuery({ expiring: event.currentTarget.checked ? "1" : null }), true)} />
          Expiring
        </label>
      </div>
      {active.length > 0 && (
        <ul class="chips" aria-label="Filters in force">
          {active.map((name) => (
            <li class="chip" key={name}>
              {seen(text(name))}
              <button type="button" aria-label={`Take away ${seen(text(name))}`} onClick={() => go(withQuery({ [name]: null }), true)}>
                <Icon name="close" size={12} />
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
