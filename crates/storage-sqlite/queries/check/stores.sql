select
    s.store,
    s.store_id,
    s.seq,
    s.memory_count = (select count(*) from memory as m where m.store = s.store and m.path is not null)
    and s.content_bytes = (
        select coalesce(sum(m.size_bytes), 0)
        from memory as m
        where m.store = s.store and m.path is not null
    )
    and s.version_count = (
        select count(*)
        from memory as m cross join version as v on v.memory = m.memory
        where m.store = s.store
    )
from store as s
where s.removed_at is null
order by s.store
