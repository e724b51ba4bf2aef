"""Whether what a run file holds can all be true: its numbers held against each other.

Checksums tell whether a row is what was written. These checks tell whether the rows could have been
written by one run: what a forger changes in one place is still in another. They see
the record alone.
"""
