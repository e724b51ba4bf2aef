"""A quick look: eight tests, each in five passes, in about a minute. Not of any standard."""
