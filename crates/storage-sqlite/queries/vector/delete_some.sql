delete from vector
where vector in (
    select v.vector
    from vector as v
    where v.vector >= ?1 * 1099511627776 and v.vector < (?1 + 1) * 1099511627776
    order by v.vector
    limit ?2
)
