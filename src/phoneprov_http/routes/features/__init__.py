"""Routes of the features above the interface."""
