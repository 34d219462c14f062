update memory
set repeat_digest = iif(?2, digest, null)
where store = ?1 and path is not null and not is_sealed
