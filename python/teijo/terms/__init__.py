"""The field's words as frozen types: what the rooms above say to each other."""
