"""The routes, one module for each section of the interface.

Each module has a function that takes its use cases and answers a router; its handlers ask
who calls, hand on what was sent, and put the result into an envelope.
"""
