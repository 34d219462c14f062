insert into idempotency (scope, key, fingerprint, kind, refs, at)
values (?1, ?2, ?3, ?4, ?5, ?6)
