"""Measurements: run by hand, not by the tests."""
