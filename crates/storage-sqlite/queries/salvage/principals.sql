select principal_id from principal
