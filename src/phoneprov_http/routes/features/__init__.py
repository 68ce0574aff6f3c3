"""Routes of the features: one module for each feature of the core."""
