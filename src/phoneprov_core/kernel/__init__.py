"""What every feature shares, and nothing else."""
