"""Carries a method's steps to a device and keeps the answers. Names no method."""
