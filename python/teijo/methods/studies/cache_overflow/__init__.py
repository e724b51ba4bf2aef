"""The study `cache-overflow`: the method, its settings, its bursts, its pages."""
