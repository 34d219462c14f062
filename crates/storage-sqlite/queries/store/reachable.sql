select
    store, store_id, workspace_id, owner, name, description, metadata, partitioning, remove_by,
    share_by, erase_after_secs, content_bytes_max, memories_max, created_at, updated_at,
    archived_at, removed_at, seq, last_at, memory_count, content_bytes, version_count,
    repeats, address, soft_cap
from store
where
    store in (
        select o.store from store as o where o.owner = ?2 and o.removed_at is null
        union
        select g.store from grant_ as g where g.grantee = ?2
        union
        select g.store from grant_ as g where g.grantee = x''
        union
        select o.store
        from membership as m cross join store as o on o.owner = m.group_id
        where m.member_id = ?2 and o.removed_at is null and o.address is not null
        union
        select o.store
        from (
            select distinct n.member_id
            from membership as m cross join membership as n on n.group_id = m.group_id
            where
                m.member_id = ?2
                and exists (select 1 from principal as a where a.principal_id = ?2 and a.kind = 1)
        ) as near
        cross join principal as p on p.principal_id = near.member_id
        cross join store as o on o.owner = p.principal_id
        where p.kind = 0 and o.removed_at is null and o.address is not null
    )
    and workspace_id = ?1
    and removed_at is null
order by created_at, store_id
