select
    s.store_id, s.workspace_id, s.owner, s.name, s.description, s.metadata, s.partitioning,
    s.remove_by, s.share_by, s.erase_after_secs, s.content_bytes_max, s.memories_max, s.repeats,
    s.created_at, s.updated_at, s.archived_at, s.removed_at, s.seq, s.last_at, s.memory_count,
    s.content_bytes, s.version_count, s.address, s.soft_cap,
    null::smallint,
    case
        -- Of those who are in a group with a user, agents are near to it.
        when
            s.relation = 0
            or (select a.kind from principal as a where a.principal_id = $8) = 1
            then s.relation
    end,
    (select p.kind from principal as p where p.principal_id = s.owner),
    g.grant_id, g.grantee, g.level, g.given_by, g.expires_at, g.created_at
from (
    select c.*, n.relation
    from (
        select o.store_id from store as o where o.owner = $8 and o.removed_at is null
        union all
        select o.store_id
        from near($1, $8) as k
        inner join store as o on o.owner = k.owner
        where o.removed_at is null and o.address is not null
        union
        select r.store_id from grant_ as r where r.workspace_id = $1 and r.grantee in ($8, $9)
    ) as reached
    inner join store as c on c.store_id = reached.store_id
    left join near($1, $8) as n on n.owner = c.owner
    where
        c.workspace_id = $1
        and c.removed_at is null
        -- Not by the index of times: there are few in reach, and many in a workspace.
        and (c.created_at + 0, c.store_id) < ($2, $3)
        and c.created_at + 0 between $4 and $5
        and ($6 or c.archived_at is null)
        and ($7::uuid[] is null or c.store_id = any($7))
    order by c.created_at + 0 desc, c.store_id desc
    limit $10
) as s
left join grant_ as g on g.store_id = s.store_id and g.grantee in ($8, $9)
order by s.created_at desc, s.store_id desc, g.grantee desc
