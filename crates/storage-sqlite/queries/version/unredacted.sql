select version from version where memory = ?1 and redacted_at is null order by revision
