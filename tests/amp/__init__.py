"""Tests of autocast and GradScaler."""
