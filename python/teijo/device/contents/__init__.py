"""What lies on a device by its own bytes: formats known by their values, and mere data."""
