insert into access_page (workspace, page)
values ($1, floor(random() * 4611686018427387904)::bigint)
on conflict (workspace) do update set page = excluded.page
