"""Recurrent networks: RNN, LSTM and GRU, of several layers, in both directions, over padded or packed sequences."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Callable
from typing import Any, Self

from funcgrad._base.warning import warn
from funcgrad._ops.table import TABLE
from funcgrad._tensor import functions as fg
from funcgrad._tensor import overriding
from funcgrad._tensor.autocasting import is_cast
from funcgrad._tensor.call import call
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import init, plain
from funcgrad.nn.module import Module
from funcgrad.nn.parameter import Parameter, empty_parameter
from funcgrad.nn.utils.rnn import PackedSequence, lengths_of, packed_of, padded_of
from funcgrad.random.dropout import kept_mask


def apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    """Return the tensor with its places along `dim` in another order. Warns: `index_select` does it."""
    warn("`apply_permutation` is deprecated, please use `tensor.index_select(dim, permutation)` instead", FutureWarning)
    return tensor.index_select(dim, permutation)


_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


class RNNBase(Module):
    """The parameters of all layers and directions, and the loop over them. A subclass says its mode."""

    __constants__ = (
        "mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional",
        "proj_size",
    )  # fmt: skip

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_options(input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size)
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._all_weights: list[list[str]] = []
        self._given_weights: tuple[list[Any], list[Any]] | None = None  # and what stood under the names by then
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[: self._directions]:
                shapes = self._shapes(layer)
                for name, shape in shapes.items():
                    setattr(self, name + suffix, empty_parameter(shape, device, dtype))
                self._all_weights.append([name + suffix for name in shapes])
        self.reset_parameters()

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    def _shapes(self, layer: int) -> dict[str, tuple[int, ...]]:
        gates = _GATES[self.mode] * self.hidden_size
        state = self.proj_size or self.hidden_size
        width = self.input_size if layer == 0 else state * self._directions
        shapes: dict[str, tuple[int, ...]] = {
            f"weight_ih_l{layer}": (gates, width),
            f"weight_hh_l{layer}": (gates, state),
        }
        if self.bias:
            shapes[f"bias_ih_l{layer}"] = shapes[f"bias_hh_l{layer}"] = (gates,)
        if self.proj_size:
            shapes[f"weight_hr_l{layer}"] = (self.proj_size, self.hidden_size)
        return shapes

    def reset_parameters(self) -> None:
        """Draw all parameters from U(-k, k), k = hidden_size ** -0.5."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def flatten_parameters(self) -> None:
        """Do nothing: XLA lays out weights itself."""

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters, a list for each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    def _weights(self) -> list[Any]:
        """What the layers compute with: what stands under the names, or the list that was given for it since."""
        named = [getattr(self, name) for name in self._flat_weights_names]
        given, then = self._given_weights or ([], [])
        return given if then and all(map(operator.is_, named, then)) else named

    @property
    def _flat_weights(self) -> list[Any]:
        self._flat_weights = self._weights()  # so that what is written to the list counts
        return self._weights()

    @_flat_weights.setter
    def _flat_weights(self, weights: list[Any]) -> None:
        """Compute with these until another tensor is bound to one of the names: dropout of weights sets both."""
        self._given_weights = weights, [getattr(self, name) for name in self._flat_weights_names]

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        self._given_weights = None
        return super()._apply(fn, recurse)

    def extra_repr(self) -> str:
        """Return the sizes, and the options that are not the default."""
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size != 0:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if self.batch_first is not False:
            text += f", batch_first={self.batch_first}"
        if self.dropout != 0:
            text += f", dropout={self.dropout}"
        return text if self.bidirectional is False else f"{text}, bidirectional={self.bidirectional}"

    def __getstate__(self) -> dict[str, Any]:
        names = self._flat_weights_names  # torch's own RNN wants to find these in a file
        state = {
            **self.__dict__,
            "_flat_weights_names": names,
            "_flat_weights": [getattr(self, name) for name in names],
        }
        del state["_given_weights"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        known = {k: v for k, v in state.items() if k not in ("_flat_weights", "_flat_weights_names", "all_weights")}
        super().__setstate__({"proj_size": 0, "_given_weights": None, **known})
        if "_all_weights" not in known:  # files from before torch 0.4 hold the tensors themselves
            suffixes = ("", "_reverse")[: self._directions]
            layers = range(self.num_layers)
            self._all_weights = [[name + end for name in self._shapes(i)] for i in layers for end in suffixes]

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Refuse inputs of another dtype, number of dimensions or width."""
        weight = getattr(self, self._all_weights[0][0])
        if input.dtype is not weight.dtype and not is_cast(input):
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
                f"Convert input: input.to({weight.dtype}), or convert model: model.to({input.dtype})"
            )
        wanted = 3 if batch_sizes is None else 2
        if input.dim() != wanted:
            raise RuntimeError(f"input must have {wanted} dimensions, got {input.dim()}")
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )

    def check_hidden_size(
        self, hx: Tensor, expected_hidden_size: tuple[int, int, int], msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """Refuse a state of another shape."""
        if tuple(hx.size()) != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """Put the batch dimension of a state in another order."""
        return hx if permutation is None else hx.index_select(1, permutation)

    def _state_shapes(self, batch: int) -> list[tuple[int, int, int]]:
        count = self.num_layers * self._directions
        shapes = [(count, batch, self.proj_size or self.hidden_size)]
        return [*shapes, (count, batch, self.hidden_size)] if self.mode == "LSTM" else shapes

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Return (all results of the last layer, last states).

        Shape: input (T, N, D), or (N, T, D) if batch first, or (T, D).
        A PackedSequence gives a PackedSequence. States: (layers * directions, N, H); an LSTM has two, h and c.
        """
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.dim() not in (2, 3):
            got = f"{input.dim()}D tensor" if type(self).__name__ == "RNN" else f"{input.dim()}D"
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {got} instead")
        is_batched = input.dim() == 3
        states = self._states_of(hx)
        wanted = 3 if is_batched else 2
        given = [state.dim() for state in states or ()]
        if any(dim != wanted for dim in given):
            kind = "batched 3-D" if is_batched else "unbatched 2-D"
            pair = f"hx and cx should also be {wanted}-D but got ({given[0]}-D, {given[-1]}-D) tensors"
            single = f"hx should also be {wanted}-D but got {given[0]}-D tensor"
            raise RuntimeError(f"For {kind} input, {pair if len(given) == 2 else single}")
        if not is_batched:
            states = None if states is None else [state.unsqueeze(1) for state in states]
            input = input.unsqueeze(0 if self.batch_first else 1)
        self.check_input(input, None)
        if overriding.state.modes:
            output, states = self._called(input, states)
        else:
            output, states = self._computed(input, states)
        if not is_batched:
            output = output.squeeze(0 if self.batch_first else 1)
            states = [state.squeeze(1) for state in states]
        return output, self._as_result(states)

    def _called(self, input: Tensor, states: list[Tensor] | None) -> tuple[Tensor, list[Tensor]]:
        """Run all layers by torch's function, for the modes that are told of it."""
        states = self._checked_states(states, input, input.size(0 if self.batch_first else 1))
        output, *ends = getattr(plain, self.mode.lower())(
            input, self._as_result(states), self._weights(), self.bias, self.num_layers, float(self.dropout),
            self.training, self.bidirectional, self.batch_first,
        )  # fmt: skip
        return output, ends

    def _computed(self, input: Tensor, states: list[Tensor] | None) -> tuple[Tensor, list[Tensor]]:
        time_first = input.transpose(0, 1) if self.batch_first else input
        states = self._checked_states(states, time_first, time_first.size(1))
        masks = self._masks(time_first)
        output, states = self._run(time_first, states, None if masks is None else fg.stack(masks), None)
        return (output.transpose(0, 1) if self.batch_first else output), states

    def _forward_packed(self, input: PackedSequence, hx: Any) -> tuple[PackedSequence, Any]:
        if self.mode == "LSTM" and input.data.size(-1) != self.input_size:  # which torch's product finds out
            raise RuntimeError(
                f"mat1 and mat2 shapes cannot be multiplied ({input.data.size(0)}x{input.data.size(-1)} and "
                f"{self.input_size}x{4 * self.hidden_size})"
            )
        self.check_input(input.data, input.batch_sizes)
        states = self._states_of(hx)
        if states is not None:
            states = [self.permute_hidden(state, input.sorted_indices) for state in states]
        sizes = to_host(input.batch_sizes)
        states = self._checked_states(states, input.data, int(sizes[0]))
        masks = self._masks(input.data)
        stacked = None if masks is None else fg.stack([padded_of(mask, sizes) for mask in masks])
        lengths = from_host(lengths_of(sizes), device=input.data.device)
        output, states = self._run(padded_of(input.data, sizes), states, stacked, lengths)
        data = packed_of(output, sizes)
        packed = PackedSequence(data, input.batch_sizes, input.sorted_indices, input.unsorted_indices)
        return packed, self._as_result([self.permute_hidden(state, input.unsorted_indices) for state in states])

    def _states_of(self, hx: Any) -> list[Tensor] | None:
        if hx is None or self.mode != "LSTM":
            return None if hx is None else [hx]
        if not isinstance(hx, Tensor) and len(hx) > 2:
            raise RuntimeError("lstm expects two hidden states")
        return [hx[0], hx[1]]

    def _checked_states(self, states: list[Tensor] | None, input: Tensor, batch: int) -> list[Tensor]:
        shapes = self._state_shapes(batch)
        if states is None:
            return [fg.zeros(shape, dtype=input.dtype, device=input.device) for shape in shapes]
        for name, state, shape in zip(("[0]", "[1]"), states, shapes, strict=False):
            which = f"hidden{name} " if self.mode == "LSTM" else "hidden "
            self.check_hidden_size(state, shape, f"Expected {which}size {{}}, got {{}}")
        return states

    def _as_result(self, states: list[Tensor]) -> Any:
        return tuple(states) if self.mode == "LSTM" else states[0]

    def _run(self, input: Tensor, states: list[Tensor], masks: Any, lengths: Any) -> tuple[Tensor, list[Tensor]]:
        """Run all layers as one operation. Shape: input (T, N, D), result (T, N, directions * H)."""
        inputs = (input, *states, *self._weights(), masks, lengths)
        output, *ends = call(TABLE[self.mode.lower()], inputs, (self.bias, self.num_layers, self.bidirectional))
        return output, ends

    def _masks(self, input: Tensor) -> list[Tensor] | None:
        """Draw what dropout multiplies each layer's results by. Shape: each (*, directions * H), as the input."""
        if not (self.dropout and self.training and self.num_layers > 1):
            return None
        shape = (*input.shape[:-1], self._directions * (self.proj_size or self.hidden_size))
        keep = 1 - self.dropout
        drawn = [kept_mask(shape, keep, input.device) for _ in range(self.num_layers - 1)]
        return [mask.to(input.dtype) * (1 / keep if keep else 0.0) for mask in drawn]


class RNN(RNNBase):
    """h_t = tanh(W_ih x_t + b_ih + W_hh h_(t-1) + b_hh), or relu of it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_projection(kwargs)
        if len(args) > 3:
            self.nonlinearity, args = args[3], args[:3] + args[4:]
        else:
            self.nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if self.nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{self.nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{self.nonlinearity.upper()}", *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory: gates i, f, g, o; c_t = f * c_(t-1) + i * g, h_t = o * tanh(c_t), projected if asked for.

    Source: Hochreiter and Schmidhuber 1997, https://doi.org/10.1162/neco.1997.9.8.1735.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    """Gated recurrent units: gates r, z, n; h_t = (1 - z) * n + z * h_(t-1).

    Source: Cho et al. 2014, https://arxiv.org/abs/1406.1078; the reset gate comes after the product, as in torch.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_projection(kwargs)
        super().__init__("GRU", *args, **kwargs)


def _refuse_projection(kwargs: dict[str, Any]) -> None:
    if "proj_size" in kwargs:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


def _check_options(
    input_size: Any, hidden_size: Any, num_layers: int, bias: Any, batch_first: Any, dropout: Any, proj_size: int
) -> None:
    if isinstance(dropout, bool) or not isinstance(dropout, (int, float)) or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
            f"greater than 1, but got dropout={dropout} and num_layers={num_layers}",
            stacklevel=4,
        )
    for name, value, kind in (
        ("bias", bias, bool), ("batch_first", batch_first, bool), ("input_size", input_size, int),
        ("hidden_size", hidden_size, int),
    ):  # fmt: skip
        if not isinstance(value, kind):
            raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
    for name, value in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
        if value <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")
