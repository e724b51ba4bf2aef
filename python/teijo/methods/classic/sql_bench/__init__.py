"""The eight tests of sql-bench, on SQLite, MariaDB or PostgreSQL."""
