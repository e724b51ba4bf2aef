"""tiotest as it was: its command line, its tables and its terse lines."""
