"""Tests that the documentation says what happens."""
