"""ASGI middleware: request id and access log, headers, authentication."""
