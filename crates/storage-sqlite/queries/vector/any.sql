select exists (
    select 1
    from vector
    where vector >= ?1 * 1099511627776 and vector < (?1 + 1) * 1099511627776
)
