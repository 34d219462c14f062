select
    s.store_id, s.workspace_id, s.owner, s.name, s.description, s.metadata, s.partitioning,
    s.remove_by, s.share_by, s.erase_after_secs, s.content_bytes_max, s.memories_max, s.repeats,
    s.created_at, s.updated_at, s.archived_at, s.removed_at, s.seq, s.last_at, s.memory_count,
    s.content_bytes, s.version_count, s.address, s.soft_cap,
    (
        select a.access
        from attachment as a
        inner join session as n on n.session_id = a.session_id
        where
            a.session_id = $4
            and a.store_id = s.store_id
            and n.workspace_id = s.workspace_id
            and n.archived_at is null
        order by a.position
        limit 1
    ),
    (
        select
            case
                -- Of those who are in a group with a user, agents are near to it.
                when
                    r.relation = 0
                    or (select a.kind from principal as a where a.principal_id = $3) = 1
                    then r.relation
            end
        from (select relation_to($2, $3, s.owner) as relation) as r
    ),
    (select p.kind from principal as p where p.principal_id = s.owner),
    g.grant_id, g.grantee, g.level, g.given_by, g.expires_at, g.created_at
from store as s
left join grant_ as g on g.store_id = s.store_id and g.grantee in ($3, $5)
where s.store_id = $1 and s.workspace_id = $2 and s.removed_at is null
order by g.grantee desc
