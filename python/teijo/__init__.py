"""Teijo measures storage so that its numbers can be trusted. The door is `teijo.api`."""
