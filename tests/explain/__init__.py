"""Tests of `funcgrad.explain`."""
