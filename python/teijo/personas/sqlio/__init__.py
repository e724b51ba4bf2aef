"""SQLIO v1.5: its command line, its parameter files, its text."""
