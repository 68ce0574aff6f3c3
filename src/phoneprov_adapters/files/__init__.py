"""Tables as files: CSV, and vCard for directories."""
