"""Maintenance of a database: migrations and key rotation."""
