"""PTS campaign: a version's tests one after the other on one device, in one run file."""
