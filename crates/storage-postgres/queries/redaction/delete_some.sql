delete from redaction
where
    store_id = $1
    and seq = any(
        array(select r.seq from redaction as r where r.store_id = $1 order by r.seq limit $2)
    )
