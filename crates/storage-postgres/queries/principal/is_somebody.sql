select
    exists (select 1 from api_key as k where k.workspace_id = $1 and k.principal_id = $2)
    or exists (select 1 from store as s where s.workspace_id = $1 and s.owner = $2)
    or exists (select 1 from membership as m where m.workspace_id = $1 and m.member_id = $2)
    or exists (select 1 from grant_ as g where g.workspace_id = $1 and g.given_by = $2)
