select
    exists (select 1 from membership as m where m.group_id = ?2 and m.member_id = ?1),
    exists (select 1 from principal as p where p.principal_id = ?2 and p.kind = 0)
    and exists (select 1 from principal as p where p.principal_id = ?1 and p.kind = 1)
    and exists (
        select 1
        from membership as m cross join membership as n on n.group_id = m.group_id
        where m.member_id = ?1 and n.member_id = ?2
    )
