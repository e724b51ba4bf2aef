"""One method over many drives and hosts: a plan, the consent to it, and its runs as one group.

Each drive has a run of its own with its own run file, begun as a person would begin it. What a
fleet is stands in one file (`manifest.py`); how far it is, its run files tell.
"""
