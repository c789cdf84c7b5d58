"""Tests of masked tensors."""
