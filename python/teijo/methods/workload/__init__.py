"""A free workload: its words and settings, its one step, its report."""
