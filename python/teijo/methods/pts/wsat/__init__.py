"""PTS write saturation (WSAT): the method, its minutes, its pages."""
