// The stores that the caller reaches: one list for the page, which the rail, the palette and every view of a store use.

import * as api from "../api/routes";
import type { StoreRow } from "../api/types";
import { learn } from "./names";
import { useQuery, type Query } from "./query";
import { mayWrite } from "./session";

export function useStores(): Query<{ data: StoreRow[]; is_truncated: boolean }> {
  return useQuery("stores", async () => {
    const answer = await api.stores();
    for (const row of answer.data) if (row.owner) learn(row.owner.id, { name: row.owner.name, kind: row.owner.kind });
    return answer;
  });
}

export function useStore(id: string | null): StoreRow | undefined {
  return useStores().data?.data.find((row) => row.memory_store_id === id);
}

/** Whether the caller may change memories of this store. */
export function mayEdit(row: StoreRow | undefined): boolean {
  return mayWrite() && row !== undefined && row.archived_at === null && (row.level === "readwrite" || row.level === "owner");
}

/** Whether the caller may ask who reaches this store; reading alone is not enough. */
export function maySeeAccess(row: StoreRow | undefined): boolean {
  return row?.level === "readwrite" || row?.level === "owner";
}

/** Whether the caller may share, describe, redact and archive. */
export function mayManage(row: StoreRow | undefined): boolean {
  return mayWrite() && row?.level === "owner";
}
