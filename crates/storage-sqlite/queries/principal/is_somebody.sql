select
    exists (select 1 from api_key as k where k.principal_id = ?1)
    or exists (select 1 from store as s where s.owner = ?1)
    or exists (select 1 from membership as m where m.member_id = ?1)
    or exists (select 1 from grant_ as g where g.given_by = ?1)
