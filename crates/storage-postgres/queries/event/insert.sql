insert into event (
    workspace_id, seq, at, actor_kind, actor_id, principal, kind, store, subject, detail, hash
)
select *
from
    unnest(
        $1::uuid[], $2::bigint[], $3::bigint[], $4::smallint[], $5::uuid[], $6::uuid[], $7::text[],
        $8::uuid[], $9::text[], $10::text[], $11::bytea[]
    )
