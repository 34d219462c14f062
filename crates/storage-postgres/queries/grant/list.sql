select grant_id, grantee, level, given_by, expires_at, created_at
from grant_
where store_id = $1
order by created_at, grant_id
