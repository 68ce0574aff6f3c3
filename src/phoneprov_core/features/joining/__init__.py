"""Joiners and leavers: everything that a person gets or leaves, in one act."""
