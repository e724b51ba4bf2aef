"""PTS IOPS: the method, its matrix of cells, its pages."""
