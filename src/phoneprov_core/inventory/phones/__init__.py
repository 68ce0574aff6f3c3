"""The inventory of phones."""
