"""Tests of funcgrad.optim."""
