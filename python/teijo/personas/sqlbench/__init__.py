"""sql-bench 2.15: run-all-tests, and each test by itself."""
