select generation from generation where generation = $1 for update
