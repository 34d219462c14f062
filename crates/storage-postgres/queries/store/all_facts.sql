select
    s.store_id, s.workspace_id, s.owner, s.name, s.description, s.metadata, s.partitioning,
    s.remove_by, s.share_by, s.erase_after_secs, s.content_bytes_max, s.memories_max, s.repeats,
    s.created_at, s.updated_at, s.archived_at, s.removed_at, s.seq, s.last_at, s.memory_count,
    s.content_bytes, s.version_count, s.address, s.soft_cap,
    null::smallint,
    case
        -- Of those who are in a group with a user, agents are near to it.
        when
            n.relation = 0
            or (select a.kind from principal as a where a.principal_id = $2) = 1
            then n.relation
    end,
    (select p.kind from principal as p where p.principal_id = s.owner),
    g.grant_id, g.grantee, g.level, g.given_by, g.expires_at, g.created_at
from store as s
left join near($1, $2) as n on n.owner = s.owner
left join grant_ as g on g.store_id = s.store_id and g.grantee in ($2, $3)
where s.workspace_id = $1 and s.removed_at is null
order by s.created_at, s.store_id, g.grantee desc
