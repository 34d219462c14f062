select
    s.store_id, s.workspace_id, s.owner, s.name, s.description, s.metadata, s.partitioning,
    s.remove_by, s.share_by, s.erase_after_secs, s.content_bytes_max, s.memories_max, s.repeats,
    s.created_at, s.updated_at, s.archived_at, s.removed_at, s.seq, s.last_at, s.memory_count,
    s.content_bytes, s.version_count
from store as s
where
    s.workspace_id = $1
    and s.removed_at is null
    and (s.created_at, s.store_id) > ($2, $3)
    and s.created_at between $4 and $5
    and ($6 or s.archived_at is null)
    and ($7::uuid[] is null or s.store_id = any($7))
    and (
        $8::uuid is null
        or s.owner = $8
        or coalesce(
            (
                -- A grant to the reader goes before one to everyone.
                select g.level >= $11
                from grant_ as g
                where
                    g.store_id = s.store_id
                    and g.grantee in ($8, $9)
                    and (g.expires_at is null or g.expires_at > $10)
                order by g.grantee desc
                limit 1
            ),
            false
        )
    )
order by s.created_at, s.store_id
limit $12
