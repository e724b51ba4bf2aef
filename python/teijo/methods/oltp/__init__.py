"""Transactions on a database at a fixed rate of arrival."""
