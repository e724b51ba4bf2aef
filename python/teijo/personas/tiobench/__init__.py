"""tiobench.pl as it was: its command line and its report."""
