"""A lake of all that was ever measured: Parquet that is made from run files, and DuckDB over it.

The run files are the truth: all of a lake can be made from them anew at any time.
"""
