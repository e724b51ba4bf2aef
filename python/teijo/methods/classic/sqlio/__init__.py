"""SQLIO v1.5's test: one kind of I/O for a time, on a strip of 8 MB unless asked otherwise."""
