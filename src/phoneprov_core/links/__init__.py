"""Links between users and extensions."""
