"""Stores of the features above the interface."""
