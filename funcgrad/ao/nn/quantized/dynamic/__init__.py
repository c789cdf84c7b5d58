"""torch.ao.nn.quantized.dynamic: layers with 8-bit weights, whose inputs are rounded to 7 bits as they come."""

from __future__ import annotations

from funcgrad.ao.nn.quantized.dynamic.linear import Linear
from funcgrad.ao.nn.quantized.dynamic.recurrent import GRU, LSTM, GRUCell, LSTMCell, RNNCell

__all__ = ["GRU", "LSTM", "GRUCell", "LSTMCell", "Linear", "RNNCell"]
