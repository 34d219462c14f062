select forget_idempotency($1)
