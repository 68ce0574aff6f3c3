"""Numbers of records, for monitoring."""
