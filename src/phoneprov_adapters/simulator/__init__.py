"""A phone that is not there: it takes files over FTP and commands over HTTP, and tells."""
