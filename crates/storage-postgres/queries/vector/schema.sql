select quote_ident(n.nspname)
from pg_extension as e inner join pg_namespace as n on n.oid = e.extnamespace
where e.extname = 'vector'
