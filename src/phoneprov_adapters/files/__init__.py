"""Tables as files: CSV and Excel, and vCard for directories."""
