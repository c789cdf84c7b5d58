"""Floor 0, words: dtypes, sizes, promotion, errors, devices, settings. Imports nothing of funcgrad."""
