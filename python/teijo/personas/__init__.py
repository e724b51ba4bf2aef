"""Classic tools as they were: their command lines in, their texts and files out.

A persona runs nothing: it makes of the original's words the order of a run, and of what the run
found what the original prints. The methods behind them are in `methods/classic`.
"""
