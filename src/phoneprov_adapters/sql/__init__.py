"""The SQL database: one schema, SQLite embedded or PostgreSQL shared.

Statements are written with SQLAlchemy Core and compiled once; the driver itself runs them.
Going through SQLAlchemy's asynchronous engine instead costs several times the query on each
of the small questions a request consists of.
"""
