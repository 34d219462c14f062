delete from lease where name = $1 and holder = $2
