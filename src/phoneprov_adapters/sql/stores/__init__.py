"""One store a feature."""
