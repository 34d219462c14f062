delete from memory where head not in (select version.version from version)
