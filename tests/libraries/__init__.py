"""Libraries that were written for PyTorch, run on funcgrad: small programs, and what they print under both."""
