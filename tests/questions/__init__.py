"""The questions that funcgrad grew out of, each a test that answers it."""
