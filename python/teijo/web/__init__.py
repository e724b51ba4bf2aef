"""The live page: a folder of run files in a browser. It computes nothing of its own."""
