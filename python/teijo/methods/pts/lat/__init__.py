"""PTS latency (LAT): the method, its matrix, its pages."""
