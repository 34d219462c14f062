insert into event (
    workspace_id, seq, at, actor_kind, actor_id, principal_id, kind, store_id, subject, detail, hash
)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
