"""Bonnie++ as a method: one large file and many small ones, in the order of the original."""
