select * from known_version
