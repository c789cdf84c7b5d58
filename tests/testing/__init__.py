"""Tests of torch.testing."""
