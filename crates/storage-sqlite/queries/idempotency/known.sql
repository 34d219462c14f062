select scope, key, fingerprint, kind, refs, at from idempotency where scope = ?1 and key = ?2
