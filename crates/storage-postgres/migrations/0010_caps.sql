-- Homes that the Mobius door made had a cap that nobody chose: 1,000 memories, or all that the home could
-- hold where that is less. Step 8 took it from homes in which it saw that another door had written. What
-- the other doors write cannot always be told from what that one does, and a cap is the owner's to choose:
-- so it goes from all homes. What is kept is not touched.
update store set soft_cap = null
where
    address like 'home:%'
    and removed_at is null
    and soft_cap = least(1000, memories_max);
