select group_id from membership where member_id = ?1
