"""Tests of the distributions: against numbers recorded from torch, and side by side with it."""
