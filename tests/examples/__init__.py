"""Tests that the examples do what they say."""
