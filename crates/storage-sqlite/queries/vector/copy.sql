insert into vector (vector, passages)
select ?2, v.passages from vector as v where v.vector = ?1
on conflict (vector) do update set passages = excluded.passages
