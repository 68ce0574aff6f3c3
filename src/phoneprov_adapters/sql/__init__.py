"""The SQL database: one schema, SQLite embedded or PostgreSQL shared.

Statements are written with SQLAlchemy Core and compiled once; the driver itself runs them. For the
small queries of a request, SQLAlchemy's asynchronous engine costs several times as much as the
query.
"""
