"""One target driven from several hosts at once: a session like the others.

A worker on each host drives it with a native session of its own; what they answer is one lap.
"""
