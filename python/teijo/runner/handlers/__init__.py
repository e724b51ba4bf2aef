"""One handler per kind of step: purge, precondition, measure, idle."""
