insert into membership (workspace_id, group_id, member_id, since) values ($1, $2, $3, $4)
