"""What other programs ask for."""
