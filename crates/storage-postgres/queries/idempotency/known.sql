select scope, key, fingerprint, kind, refs, at
from idempotency
where workspace_id = $1 and scope = $2 and key = $3
