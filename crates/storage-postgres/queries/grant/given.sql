select distinct s.store_id
from (
    select * from unnest($2::uuid[]) as u (owner)
    limit cardinality($2::uuid[])
) as w
inner join store as s on s.owner = w.owner
inner join grant_ as g on g.store_id = s.store_id
where
    s.workspace_id = $1
    and s.removed_at is null
    -- What who leaves gave of the others' stores, and the others of theirs.
    and case when s.owner = $3 then g.given_by = any($4) else g.given_by = $3 end
order by s.store_id
