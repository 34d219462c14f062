insert into vector_mark (store, generation, through)
values (?1, ?2, ?3)
on conflict (store, generation) do update set through = excluded.through
where excluded.through > through
