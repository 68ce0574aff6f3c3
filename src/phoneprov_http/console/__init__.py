"""The operator's console: its files, and the browser's session."""
