"""Phone profiles, and the switch that puts one onto a phone."""
