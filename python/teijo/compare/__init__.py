"""Runs beside runs: who is compared, on what conditions, by which figures, and what it shows."""
