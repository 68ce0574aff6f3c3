"""Pages that phones fetch: services, login, directories."""
