select
    current_setting('server_version_num')::int,
    current_setting('server_version'),
    pg_encoding_to_char(d.encoding)::text,
    quote_ident(current_user),
    quote_ident(d.datname),
    exists (select 1 from pg_roles as r where r.rolname = 'loci_app'),
    exists (
        select 1 from pg_roles as r
        where r.rolname = 'loci_app' and (r.rolsuper or r.rolbypassrls)
    ),
    exists (
        select 1 from pg_roles as r
        where r.rolname = 'loci_app' and pg_has_role(r.oid, 'member')
    ),
    exists (select 1 from pg_namespace as n where n.nspname = 'loci'),
    exists (
        select 1
        from pg_class as c inner join pg_namespace as n on n.oid = c.relnamespace
        where n.nspname = 'loci' and c.relname = 'migration'
    ),
    (select quote_ident(pg_get_userbyid(n.nspowner)) from pg_namespace as n where n.nspname = 'loci')
from pg_database as d
where d.datname = current_database()
