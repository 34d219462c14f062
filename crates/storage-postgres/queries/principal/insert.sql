insert into principal (principal_id, workspace_id, kind, name, is_admin, created_at, memory)
values ($1, $2, $3, $4, $5, $6, $7)
on conflict do nothing
