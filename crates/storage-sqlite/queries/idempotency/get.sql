select fingerprint, kind, refs from idempotency where scope = ?1 and key = ?2
