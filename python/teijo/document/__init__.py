"""What a report says: meaning, not ink."""
