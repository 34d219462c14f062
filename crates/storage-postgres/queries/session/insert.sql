insert into session (
    session_id, workspace_id, owner, title, metadata, agent_id, agent_version, details, created_at,
    updated_at, archived_at
)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
on conflict do nothing
