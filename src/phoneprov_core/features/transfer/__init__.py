"""Import and export of many records as rows of tables."""
