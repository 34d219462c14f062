insert into reading_end as e (store_id, workspace_id, number, forgotten)
values ($1, $2, $3, 0)
on conflict (store_id) do update set number = e.number + excluded.number
returning e.number
