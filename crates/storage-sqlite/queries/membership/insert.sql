insert into membership (group_id, member_id, since) values (?1, ?2, ?3)
