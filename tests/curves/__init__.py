"""Whole loss curves against PyTorch."""
