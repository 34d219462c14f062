select group_id, member_id, since from membership where group_id = ?1 and member_id = ?2
