select g.grant_id, g.grantee, g.level, g.given_by, g.expires_at, g.created_at, s.store_id
from grant_ as g cross join store as s on s.store = g.store
where g.grant_id = ?1
