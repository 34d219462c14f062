insert into vector_mark as m (store_id, generation, workspace_id, through)
values ($1, $2, $3, $4)
on conflict (store_id, generation) do update set through = excluded.through
where excluded.through > m.through
