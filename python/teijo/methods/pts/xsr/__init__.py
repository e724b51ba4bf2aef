"""PTS cross stimulus recovery (XSR): the method, its three groups, its pages."""
