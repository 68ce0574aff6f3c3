"""The adapters behind the core's ports: databases, servers, phones, secrets, and the wiring."""
