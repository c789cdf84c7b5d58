"""Floor 4, who: Tensor, a name for a Variable, with torch's functions, methods, views, indexing and printing."""
