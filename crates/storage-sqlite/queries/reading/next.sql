insert into reading_end (store, number, forgotten)
values (?1, 1, 0)
on conflict (store) do update set number = number + 1
returning number
