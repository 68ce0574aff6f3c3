"""How fast the service is, beside a peer that does the same work and the floor below both.

``make bench`` runs it; see ``docs/explanation/performance.md``.
"""
