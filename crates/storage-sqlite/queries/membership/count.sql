select count(*) from membership where group_id = ?1
