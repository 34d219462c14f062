select
    greatest(
        (
            select max(greatest(s.updated_at, s.last_at))
            from store as s
            where s.workspace_id = $1 and s.removed_at is null
        ),
        (select max(n.created_at) from session as n where n.workspace_id = $1),
        (
            select e.at
            from event as e
            where e.workspace_id = $1
            order by e.seq desc
            limit 1
        )
    ) as newest
