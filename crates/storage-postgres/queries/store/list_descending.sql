select
    s.store_id, s.workspace_id, s.owner, s.name, s.description, s.metadata, s.partitioning,
    s.remove_by, s.share_by, s.erase_after_secs, s.content_bytes_max, s.memories_max, s.repeats,
    s.created_at, s.updated_at, s.archived_at, s.removed_at, s.seq, s.last_at, s.memory_count,
    s.content_bytes, s.version_count, s.address, s.soft_cap
from store as s
where
    s.workspace_id = $1
    and s.removed_at is null
    and (s.created_at, s.store_id) < ($2, $3)
    and s.created_at between $4 and $5
    and ($6 or s.archived_at is null)
    and ($7::uuid[] is null or s.store_id = any($7))
order by s.created_at desc, s.store_id desc
limit $8
