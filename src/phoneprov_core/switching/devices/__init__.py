"""Data sent to phones: file names, commands, restart sequences."""
