update store
set name = ?2, description = ?3, metadata = ?4, updated_at = ?5, archived_at = ?6, repeats = ?7,
    soft_cap = ?8
where store = ?1
