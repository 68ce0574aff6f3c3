"""Many records at once: in from rows of a table, and out to them."""
