"""Code that every feature shares."""
