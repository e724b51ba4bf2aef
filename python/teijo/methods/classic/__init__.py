"""The tests of the classic tools as methods: what each measured, and what its number hides."""
