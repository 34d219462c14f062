select
    s.memory_count,
    (
        select count(*)
        from memory as m
        where
            m.store_id = $1
            and m.visibility > 0
            and m.visibility > $2::smallint
            and m.path is not null
    ),
    has_passages($3)
from store as s
where s.store_id = $1 and s.removed_at is null
