"""The contract of a database: one class for each store, and ``DatabaseContract`` for all."""
