"""DiskSpd 2.2: its command line, its text and its XML."""
