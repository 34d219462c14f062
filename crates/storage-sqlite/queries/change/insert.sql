insert into change (store, seq, op, version, actor_kind, actor_id, at, reason)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
