insert into reading_mark (store, reader, through, day, requests, tokens)
values (?1, ?2, ?3, ?4, ?5, ?6)
on conflict (store, reader) do update set
through = max(through, excluded.through),
day = max(day, excluded.day),
requests = case
    when excluded.day > day then excluded.requests
    when excluded.day < day then requests
    else requests + excluded.requests
end,
tokens = case
    when excluded.day > day then excluded.tokens
    when excluded.day < day then tokens
    else tokens + excluded.tokens
end
