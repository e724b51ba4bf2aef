"""Bonnie++ as it was: its command line, its text and its CSV."""
