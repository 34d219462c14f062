insert into reading_mark as m (store_id, reader, workspace_id, through, day, requests, tokens)
values ($1, $2, $3, $4, $5, $6, $7)
on conflict (store_id, reader) do update set
through = greatest(m.through, excluded.through),
day = greatest(m.day, excluded.day),
requests = case
    when excluded.day > m.day then excluded.requests
    when excluded.day < m.day then m.requests
    else m.requests + excluded.requests
end,
tokens = case
    when excluded.day > m.day then excluded.tokens
    when excluded.day < m.day then m.tokens
    else m.tokens + excluded.tokens
end
