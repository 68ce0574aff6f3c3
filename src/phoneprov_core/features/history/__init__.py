"""What phones had at an earlier moment."""
