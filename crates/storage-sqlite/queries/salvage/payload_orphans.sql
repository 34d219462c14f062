delete from payload where version not in (select version.version from version)
