"""The conformance ledger: what a version of the PTS requires, and what a record shows of it."""
