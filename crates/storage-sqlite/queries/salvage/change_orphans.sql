delete from change where version not in (select version.version from version)
