"""Work on the database as a whole: migrations."""
