select kind, count(*) as memories, max(updated_at) as changed_at
from (
    select distinct on (path) kind, is_sealed, updated_at
    from live_memory
    where
        store_id = $1
        and visibility <= $2
        and (expires_at is null or expires_at > $3)
        and ($4::text is null or left(path, length($4)) <> $4)
    order by path, updated_at desc
) as newest
where not is_sealed
group by kind
