"""Studies: what a cache, a tier, a block size or a setting does, on any device."""
