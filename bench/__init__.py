"""The speed of the service, compared with a peer that does the same work, and with the floor.

``make bench`` runs it; see ``docs/explanation/performance.md``.
"""
