insert into grant_ (store, grantee, grant_id, level, given_by, expires_at, created_at)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7)
on conflict (store, grantee) do update set
    level = excluded.level, given_by = excluded.given_by, expires_at = excluded.expires_at,
    created_at = excluded.created_at
