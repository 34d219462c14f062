select
    exists (select 1 from pg_available_extensions where name = 'vector' and installed_version is null)
