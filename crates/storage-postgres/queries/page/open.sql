select workspace, page from access_page where workspace = any($1)
