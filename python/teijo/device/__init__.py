"""Devices: found, identified, claimed, purged. Nothing is written before preflight says so."""
