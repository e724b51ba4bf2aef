"""DiskSpd's test: one load for a time behind a warm-up, its threads each told apart."""
