insert into lease as l (name, holder, until)
values ($1, $2, clock_timestamp() + $3::bigint * interval '1 millisecond')
on conflict (name) do update set holder = excluded.holder, until = excluded.until
where l.holder = excluded.holder or l.until <= clock_timestamp()
