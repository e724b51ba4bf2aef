"""Work on many small files in a directory: each operation is timed, and all of it removed."""
