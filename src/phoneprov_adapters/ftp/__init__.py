"""Configuration files over FTP, plain or with TLS: the ``ConfigUploader`` of real phones."""
