"""Login, logout and authentication of callers."""
