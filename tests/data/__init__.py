"""Tests of `funcgrad.utils.data`."""
