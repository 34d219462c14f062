select not (pg_is_in_recovery() or current_setting('default_transaction_read_only')::boolean)
