update memory
set repeat_digest = case when $2 then digest end
where store_id = $1 and path is not null and not is_sealed
