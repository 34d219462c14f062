select d.n, m.memory_id
from unnest($2::text[], $3::uuid[]) with ordinality as d (directory, partition, n)
cross join lateral (
    select x.memory_id, x.path
    from memory as x
    where
        x.store_id = $1
        and x.path > d.directory || '/'
        and x.path < d.directory || '0'
        and x.partition = d.partition
        and strpos(substr(x.path, length(d.directory) + 2), '/') = 0
        and x.visibility <= $4
        and (x.expires_at is null or x.expires_at > $5)
        and not x.is_sealed
    order by x.path
    limit $6
) as m
order by d.n, m.path
