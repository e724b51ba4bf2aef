"""One method over many drives: what each found, which differ, and by what they go together."""
