select content, base from payload where version = ?1
