select
    session_id, workspace_id, owner, title, metadata, agent_id, agent_version, details, created_at,
    updated_at, archived_at
from session
where
    workspace_id = ?1
    and (created_at, session_id) > (?2, ?3)
    and (?4 or archived_at is null)
    and (?5 is null or owner = ?5)
    and (?6 is null or agent_id = ?6)
    and (?7 is null or agent_version = ?7)
    and (
        ?8 is null
        or exists (
            select 1
            from attachment
            where attachment.session_id = session.session_id and attachment.store_id = ?8
        )
    )
order by created_at, session_id
