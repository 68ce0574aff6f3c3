"""What concerns the caller themselves."""
