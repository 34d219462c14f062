-- Stores that are compacted when they hold more than they should.

-- How many live memories the store should hold; null is any number.
alter table store add column soft_cap integer;

-- For the question which stores hold more.
create index store_by_cap on store (store) where soft_cap is not null and removed_at is null;
