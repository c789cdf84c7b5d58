"""One step of a recurrent network: RNNCell, LSTMCell, GRUCell."""

from __future__ import annotations

import math
from typing import Any

from funcgrad._ops.table import TABLE
from funcgrad._tensor import functions as fg
from funcgrad._tensor.call import call
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import init
from funcgrad.nn.module import Module
from funcgrad.nn.parameter import empty_parameter


class RNNCellBase(Module):
    """The parameters of one step. A subclass says how many gates, and calls its step."""

    __constants__ = ("input_size", "hidden_size", "bias")

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        gates = num_chunks * hidden_size
        self.weight_ih = empty_parameter((gates, input_size), device, dtype)
        self.weight_hh = empty_parameter((gates, hidden_size), device, dtype)
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, empty_parameter(gates, device, dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters from U(-k, k), k = hidden_size ** -0.5."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def extra_repr(self) -> str:
        """Return the sizes, and the options that are not the default."""
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return text if nonlinearity == "tanh" else f"{text}, nonlinearity={nonlinearity}"

    def _step(self, row: str, input: Tensor, states: list[Tensor] | None, count: int) -> list[Tensor]:
        """Check and batch the inputs, do one step, and return the new states."""
        name = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        for place, state in enumerate(states or ()):
            if state.dim() not in (1, 2):
                which = f"hx[{place}]" if count == 2 else "hidden"
                raise ValueError(f"{name}: Expected {which} to be 1D or 2D, got {state.dim()}D instead")
        is_batched = input.dim() == 2
        batch = input if is_batched else input.unsqueeze(0)
        if states is None:
            states = [fg.zeros((batch.size(0), self.hidden_size), dtype=input.dtype, device=input.device)] * count
        elif not is_batched:
            states = [state.unsqueeze(0) for state in states]
        weights = (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        given = call(TABLE[row], (batch, *states, *weights))
        new = list(given) if count == 2 else [given]
        return new if is_batched else [state.squeeze(0) for state in new]


class RNNCell(RNNCellBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu of it. Shape: input (N, D) or (D), h (N, H) or (H)."""

    __constants__ = ("input_size", "hidden_size", "bias", "nonlinearity")

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the new state."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(f"rnn_{self.nonlinearity}_cell", input, None if hx is None else [hx], 1)[0]


class LSTMCell(RNNCellBase):
    """One step of an LSTM. Shape: input (N, D) or (D), states h and c (N, H) or (H)."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """Return the new (h, c)."""
        if isinstance(hx, Tensor):
            raise TypeError("lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not Tensor")
        if hx is not None and len(hx) != 2:
            raise RuntimeError("lstm_cell expects two hidden states")
        h, c = self._step("lstm_cell", input, None if hx is None else list(hx), 2)
        return h, c


class GRUCell(RNNCellBase):
    """One step of a GRU. Shape: input (N, D) or (D), h (N, H) or (H)."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the new state."""
        return self._step("gru_cell", input, None if hx is None else [hx], 1)[0]
