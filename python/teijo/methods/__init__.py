"""How storage is measured, one file a method: pure generators of steps."""
