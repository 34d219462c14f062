-- Beside max(), SQLite takes the other columns of a group from the row that has it.
select kind, count(*) as memories, max(changed_at) as changed_at
from (
    select kind, is_sealed, max(updated_at) as changed_at
    from memory
    where
        store = ?1
        and path is not null
        and visibility <= ?2
        and (expires_at is null or expires_at > ?3)
        and (?4 is null or substr(path, 1, length(?4)) <> ?4)
    group by path
)
where not is_sealed
group by kind
