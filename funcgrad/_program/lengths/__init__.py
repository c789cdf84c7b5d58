"""One executable for many lengths: a dimension that changes from program to program becomes a symbol, then a mask."""
