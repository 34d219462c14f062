select
    v.version_id, v.digest, v.size_bytes, v.is_sealed, p.content, p.version, p.base,
    exists (select 1 from payload as d where d.base = p.version)
from payload as p cross join version as v on v.version = p.version
where v.digest is not null
order by p.version
