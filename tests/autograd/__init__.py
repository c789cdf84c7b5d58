"""Tests of autograd."""
