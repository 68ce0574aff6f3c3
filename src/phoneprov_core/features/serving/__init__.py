"""Serving configurations and other files to phones, with a record of each request."""
