select
    current_setting('server_version'),
    pg_is_in_recovery() or current_setting('default_transaction_read_only')::boolean,
    current_setting('data_checksums')::boolean,
    current_setting('fsync')::boolean and current_setting('full_page_writes')::boolean,
    (select r.rolsuper from pg_roles as r where r.rolname = current_user),
    (select e.extversion::text from pg_extension as e where e.extname = 'vector'),
    pg_database_size(current_database())
