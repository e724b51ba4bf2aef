"""PTS throughput (TP): the method, its tests by block size, its pages."""
