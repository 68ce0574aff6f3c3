"""Everything a phone is sent: file names, commands, restart sequences."""
