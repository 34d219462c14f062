select workspace_id, store_id from store where removed_at is not null order by store limit ?1
