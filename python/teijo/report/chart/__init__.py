"""Charts from meaning: what a document says, as drawings for the screen and for paper."""
