"""Putting a device back in the state "never written": what it offers, and doing it."""
