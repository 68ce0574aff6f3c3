"""Commands of the features above the interface."""
