insert into reading (memory, reader, version, store, number, read_at, claims)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7)
on conflict (memory, reader) do update set
version = excluded.version, number = excluded.number, read_at = excluded.read_at, claims = excluded.claims
