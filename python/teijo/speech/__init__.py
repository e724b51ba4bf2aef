"""What Teijo says to a person, in the language of each: messages, and a run in words."""
