"""CrystalDiskMark 3, 5 and 8 as a command: its settings in, its window and its text out."""
