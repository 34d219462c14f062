update memory as m
set
    visibility = coalesce(
        (
            select v.visibility
            from version as v
            where v.store_id = $1 and v.memory_id = $2 and v.redacted_at is null
            order by v.revision desc
            limit 1
        ),
        1
    )
where m.store_id = $1 and m.memory_id = $2 and m.path is null
returning m.visibility
