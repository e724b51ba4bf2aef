"""PTS host idle recovery (HIR): the method, its bursts and rests, its pages."""
