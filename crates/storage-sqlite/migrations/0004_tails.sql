-- A version may be kept as what it adds to the one before it, so that a text that grows line by line
-- costs its lines and not the sum of everything it ever was.

-- The version whose content comes before this one's: the content of a version is that of its base
-- with its own bytes behind it. Null where all of it is here. No foreign key: who deletes a base
-- hands its bytes on first, and the check looks for what is missing.
alter table payload add column base integer;

create index payload_by_base on payload (base) where base is not null;

-- How many steps it is at most from the content of the head to one that is kept whole.
alter table memory add column depth integer not null default 0;

-- The hash of the head's content as it was left by an append, to go on with at the next one. It holds
-- the last bytes of that content, so it is here, where it goes with the head.
alter table memory add column hash blob;
