"""Commands for profiles and configurations."""
