"""SQLite and PostgreSQL: connections, transactions, statements."""
