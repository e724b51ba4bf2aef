"""A drive's health: its own logs read and decoded, a verdict on them, and what a run asks for."""
