update store
set seq = max(seq, coalesce((select max(c.seq) from change as c where c.store = store.store), 0))
