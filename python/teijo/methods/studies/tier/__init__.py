"""The study `tier`: the method, its settings, its cells, what was found, its pages."""
