"""How long records are kept."""
