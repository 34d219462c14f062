select
    s.store_id,
    s.seq,
    greatest(v.newest, r.newest),
    s.memory_count = m.live and s.content_bytes = m.bytes and s.version_count = v.kept,
    m.live,
    v.kept,
    v.kept + r.entries,
    x.kept,
    y.kept
from store as s
cross join lateral (
    select count(*) as live, coalesce(sum(m.size_bytes), 0) as bytes
    from memory as m
    where m.store_id = s.store_id and m.path is not null
) as m
cross join lateral (
    select count(*) as kept, coalesce(max(v.seq), 0) as newest
    from version as v
    where v.store_id = s.store_id
) as v
cross join lateral (
    select count(*) as entries, coalesce(max(r.seq), 0) as newest
    from redaction as r
    where r.store_id = s.store_id
) as r
cross join lateral (
    select count(*) as kept from vector as x where x.store_id = s.store_id
) as x
cross join lateral (
    select count(*) as kept from reading as y where y.store_id = s.store_id
) as y
where s.store_id = any($1)
order by s.store_id
