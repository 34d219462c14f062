select forget_removed($1, $2, $3)
