"""The run file: one run, one SQLite file. The only room that knows SQLite."""
