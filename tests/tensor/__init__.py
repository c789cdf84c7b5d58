"""Tests of Tensor: views, indexing, creation, printing."""
