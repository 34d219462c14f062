delete from idempotency where at < ?1
