-- Homes that the Mobius door made had a cap of 1,000 memories that nobody chose. It goes from those in
-- which another door has written: what was kept there was never meant to be compacted. What is kept is
-- not touched, and what compaction took away stays in the history.
update store set soft_cap = null
where
    soft_cap = 1000
    and address like 'home:%'
    and removed_at is null
    and exists (
        select 1
        from version as v
        inner join memory as m on m.memory = v.memory
        where
            m.store = store.store
            and v.op in (0, 1)
            and (
                -- Reasons that the Mobius door and compaction never give.
                v.reason not in (
                    'api', 'remembered', 'promoted', 'compacted', 'restored', 'revert'
                )
                -- Paths that it never writes: its keys are one segment, those of users below /:u:.
                or (v.path like '/%/%' and v.path not like '/:u:%')
            )
    );
