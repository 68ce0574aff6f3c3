"""The routes, one module for each section of the interface: a function from use cases to routes.

Guards and body come first; the use case checks its rules on records.
"""
