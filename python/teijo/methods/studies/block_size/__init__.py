"""The study `block-size`: the method, its settings, its cells, what was found, its pages."""
