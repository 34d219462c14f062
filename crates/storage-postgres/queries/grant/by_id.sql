select grant_id, grantee, level, given_by, expires_at, created_at, store_id
from grant_
where grant_id = $1
