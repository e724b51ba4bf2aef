"""What came from outside (a drive, a file, a plan, a name): how it is shown, and how it is read."""
