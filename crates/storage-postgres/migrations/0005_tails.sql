-- A version may be kept as what it adds to the one before it, so that a text that grows line by line
-- costs its lines and not the sum of everything it ever was.

-- The number of the version whose content comes before this one's: the content of a version is that
-- of its base with its own bytes behind it. Null where all of it is here. Who deletes a base hands
-- its bytes on first.
alter table payload add column base bigint;

create index payload_by_base on payload (store_id, base) where base is not null;

-- How many steps it is at most from the content of the head to one that is kept whole.
alter table memory add column depth int not null default 0;

-- The hash of the head's content as it was left by an append, to go on with at the next one. It holds
-- the last bytes of that content, so it is here, where it goes with the head; and it is not sampled.
alter table memory add column hash bytea;

alter table memory alter column hash set statistics 0;
