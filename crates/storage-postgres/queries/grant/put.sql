insert into grant_ (
    store_id, grantee, workspace_id, grant_id, level, given_by, expires_at, created_at
)
values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict (store_id, grantee) do update set
    level = excluded.level, given_by = excluded.given_by, expires_at = excluded.expires_at,
    created_at = excluded.created_at
