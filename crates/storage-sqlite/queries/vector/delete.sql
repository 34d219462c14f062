delete from vector
where vector in (select g.generation * 1099511627776 + ?1 from generation as g)
