"""Who a drive is by its own word: identify data, states and features, read without belief.

`*_identity.py` turn bytes into typed answers and send nothing; `asking_*.py` send, bounded;
`portrait.py` puts all of it together, and `unfinished.py` says what must be ended first.
"""
