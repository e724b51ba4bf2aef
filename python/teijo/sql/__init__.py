"""Statements on an SQLite database of our own: each is timed, and the database removed."""
