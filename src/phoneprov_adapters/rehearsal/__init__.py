"""The twin of an installation on which batches are rehearsed."""
