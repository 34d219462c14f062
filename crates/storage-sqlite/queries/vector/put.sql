insert into vector (vector, passages)
values (?1, ?2)
on conflict (vector) do update set passages = excluded.passages
