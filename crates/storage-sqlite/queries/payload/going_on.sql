select version, content from payload where base = ?1
