select content from payload where version = ?1
