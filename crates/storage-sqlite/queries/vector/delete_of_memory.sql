delete from vector
where vector in (
    select g.generation * 1099511627776 + v.version
    from version as v cross join generation as g
    where v.memory = ?1
)
