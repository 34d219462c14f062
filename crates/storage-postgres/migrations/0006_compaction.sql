-- Stores that are compacted when they hold more than they should.

-- How many live memories the store should hold; null is any number.
alter table store add column soft_cap bigint;

-- For the question which stores hold more.
create index store_by_cap on store (store_id) where soft_cap is not null and removed_at is null;

create function crowded_stores(at_most bigint)
returns table (workspace_id uuid, store_id uuid)
language sql stable security definer set search_path = loci, pg_temp
as $$
    select s.workspace_id, s.store_id
    from store as s
    where
        s.soft_cap is not null
        and s.removed_at is null
        and s.archived_at is null
        and s.memory_count > s.soft_cap
    order by s.memory_count - s.soft_cap desc, s.store_id
    limit at_most
$$;

revoke execute on function crowded_stores(bigint) from public;

grant execute on function crowded_stores(bigint) to loci_app;
