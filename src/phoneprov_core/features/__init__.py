"""Everything above the interface; each feature may be taken out."""
