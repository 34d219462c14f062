delete from generation where generation = $1
