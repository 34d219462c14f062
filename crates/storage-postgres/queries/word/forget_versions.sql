select forget_versions($1, $2)
