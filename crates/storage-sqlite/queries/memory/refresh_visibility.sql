update memory
set visibility = coalesce(
    (
        select v.visibility
        from version as v
        where v.memory = ?1 and v.redacted_at is null
        order by v.revision desc
        limit 1
    ),
    1
)
where memory = ?1 and path is null
