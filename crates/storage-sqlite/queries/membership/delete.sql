delete from membership where group_id = ?1 and member_id = ?2
