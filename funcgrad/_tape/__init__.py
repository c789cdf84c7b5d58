"""Floor 3, whence: variables, the graph behind them, and the backward pass. Never says Tensor."""
