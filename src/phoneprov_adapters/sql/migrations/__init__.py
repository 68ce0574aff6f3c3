"""The schema's history, one step a file, the same for every database."""
