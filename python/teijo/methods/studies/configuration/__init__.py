"""The study `configuration`: a matrix of settings, and which of them matters."""
