select
    s.session_id, s.workspace_id, s.owner, s.title, s.metadata, s.agent_id, s.agent_version,
    s.details, s.created_at, s.updated_at, s.archived_at
from session as s
where
    s.workspace_id = $1
    and (s.created_at, s.session_id) > ($2, $3)
    and s.created_at between $4 and $5
    and ($6 or s.archived_at is null)
    and ($7::uuid is null or s.owner = $7)
    and ($8::text is null or s.agent_id = $8)
    and ($9::bigint is null or s.agent_version = $9)
    and (
        $10::uuid is null
        or exists (
            select 1
            from attachment as a
            where a.session_id = s.session_id and a.store_id = $10
        )
    )
order by s.created_at, s.session_id
limit $11
