"""Recurrent layers and cells with 8-bit weights: each product's input is rounded as it comes, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from funcgrad._tape.modes import no_grad
from funcgrad._tensor import functions as torch
from funcgrad._tensor.tensor import Tensor
from funcgrad.ao.nn.quantized.dynamic.module import Dynamic
from funcgrad.ao.nn.quantized.dynamic.products import Packed, linear, packed
from funcgrad.nn.rnn import RNNBase
from funcgrad.nn.rnn_cells import RNNCellBase
from funcgrad.nn.utils.rnn import PackedSequence

State = tuple[Tensor, ...]


class _Weights(NamedTuple):
    """The weights of one layer in one direction: of the input, and of the state."""

    input: Packed
    state: Packed


def _lstm_step(share: Tensor, state: State, weights: Packed) -> State:
    hidden, cell = state
    enter, keep, new, show = (share + linear(hidden, weights)).chunk(4, -1)
    cell = keep.sigmoid() * cell + enter.sigmoid() * new.tanh()
    return show.sigmoid() * cell.tanh(), cell


def _gru_step(share: Tensor, state: State, weights: Packed) -> State:
    (hidden,) = state
    reset, update, new = share.chunk(3, -1)
    reset_state, update_state, new_state = linear(hidden, weights).chunk(3, -1)
    reset, update = (reset + reset_state).sigmoid(), (update + update_state).sigmoid()
    new = (new + reset * new_state).tanh()
    return ((hidden - new) * update + new,)


class _Recurrent(Dynamic):
    """The loop over layers, directions and steps. A subclass says its step and how many states it has."""

    _states = 1

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Self:
        """Return the layers with the weights of a `nn.LSTM` or `nn.GRU`, rounded. ValueError for a projection."""
        if mod.proj_size:
            raise ValueError("dynamic quantisation: a projection (proj_size) is not supported")
        made = cls()
        for name in mod.__constants__:
            setattr(made, name, getattr(mod, name))
        made._weights = [_of_layer([getattr(mod, name) for name in names]) for names in mod._all_weights]
        return made

    def _step(self, share: Tensor, state: State, weights: Packed) -> State:
        raise AssertionError("a recurrent layer says in _step what it does at each time")

    def forward(self, input: Tensor, hx: Any = None) -> tuple[Tensor, Any]:
        """Return all states of the last layer, and the last ones of every layer. Shape: as the plain layer has it."""
        if isinstance(input, PackedSequence):
            raise NotImplementedError("dynamically quantised layers take padded sequences, not packed ones")
        with no_grad():
            batched = input.dim() == 3
            sequence = input if batched else input.unsqueeze(1)
            sequence = sequence.transpose(0, 1) if self.batch_first and batched else sequence
            output, states = self._run(sequence, self._first(sequence, hx, batched))
            output = output.transpose(0, 1) if self.batch_first and batched else output
            if not batched:
                output, states = output.squeeze(1), [state.squeeze(1) for state in states]
        return output, tuple(states) if self._states > 1 else states[0]

    def _first(self, sequence: Tensor, hx: Any, batched: bool) -> list[Tensor]:
        """Return the first states. Shape: each (layers * directions, N, hidden_size)."""
        if hx is None:
            zeros = torch.zeros((len(self._weights), sequence.shape[1], self.hidden_size), dtype=sequence.dtype)
            return [zeros] * self._states
        given = list(hx) if self._states > 1 else [hx]
        return given if batched else [state.unsqueeze(1) for state in given]

    def _run(self, sequence: Tensor, first: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        directions, lasts = 2 if self.bidirectional else 1, []
        for layer in range(self.num_layers):
            outputs = []
            for direction in range(directions):
                place = layer * directions + direction
                output, last = self._one(sequence, tuple(s[place] for s in first), self._weights[place], direction == 1)
                outputs.append(output)
                lasts.append(last)
            sequence = torch.cat(outputs, -1) if directions == 2 else outputs[0]
            if self.training and self.dropout and layer < self.num_layers - 1:
                sequence = torch.dropout(sequence, self.dropout, True)
        return sequence, [torch.stack(parts) for parts in zip(*lasts, strict=True)]

    def _one(self, sequence: Tensor, state: State, weights: _Weights, backwards: bool) -> tuple[Tensor, State]:
        shares = linear(sequence, weights.input).unbind(0)
        outputs = []
        for share in reversed(shares) if backwards else shares:
            state = self._step(share, state, weights.state)
            outputs.append(state[0])
        return torch.stack(outputs[::-1] if backwards else outputs), state

    extra_repr = RNNBase.extra_repr

    def _kept(self) -> dict[str, Any]:
        return {f"_all_weight_values.{place}.param": weights for place, weights in enumerate(self._weights)}

    def _keep(self, found: Mapping[str, Any]) -> None:
        self._weights = list(found.values())


def _of_layer(weights: list[Tensor]) -> _Weights:
    w_ih, w_hh, *biases = weights
    b_ih, b_hh = biases or (None, None)
    return _Weights(packed(w_ih, b_ih), packed(w_hh, b_hh))


class LSTM(_Recurrent):
    """Long short-term memory with 8-bit weights. Made of `nn.LSTM` by `quantize_dynamic`."""

    _states = 2

    def _step(self, share: Tensor, state: State, weights: Packed) -> State:
        return _lstm_step(share, state, weights)


class GRU(_Recurrent):
    """Gated recurrent units with 8-bit weights. Made of `nn.GRU` by `quantize_dynamic`."""

    def _step(self, share: Tensor, state: State, weights: Packed) -> State:
        return _gru_step(share, state, weights)


class _Cell(Dynamic):
    """One step. A subclass says what it does with the input's share."""

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Self:
        """Return the cell with the weights of a plain one, rounded."""
        made = cls()
        made.input_size, made.hidden_size, made.bias = mod.input_size, mod.hidden_size, mod.bias
        made.nonlinearity = getattr(mod, "nonlinearity", "tanh")
        biases = [mod.bias_ih, mod.bias_hh] if mod.bias else []
        made._own = _of_layer([mod.weight_ih, mod.weight_hh, *biases])
        return made

    def _zeros(self, input: Tensor) -> Tensor:
        return torch.zeros((*input.shape[:-1], self.hidden_size), dtype=input.dtype)

    extra_repr = RNNCellBase.extra_repr

    def _kept(self) -> dict[str, Any]:
        return {"_packed_weight_ih": self._own.input, "_packed_weight_hh": self._own.state}

    def _keep(self, found: Mapping[str, Any]) -> None:
        self._own = _Weights(*found.values())


class LSTMCell(_Cell):
    """One step of an LSTM with 8-bit weights."""

    def forward(self, input: Tensor, hx: Any = None) -> State:
        """Return the new h and c. Shape: as `nn.LSTMCell` has it."""
        with no_grad():
            state = (self._zeros(input),) * 2 if hx is None else tuple(hx)
            return _lstm_step(linear(input, self._own.input), state, self._own.state)


class GRUCell(_Cell):
    """One step of a GRU with 8-bit weights."""

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the new h. Shape: as `nn.GRUCell` has it."""
        with no_grad():
            state = (self._zeros(input) if hx is None else hx,)
            return _gru_step(linear(input, self._own.input), state, self._own.state)[0]


class RNNCell(_Cell):
    """One step of a plain recurrent network with 8-bit weights."""

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the new h. Shape: as `nn.RNNCell` has it."""
        with no_grad():
            state = self._zeros(input) if hx is None else hx
            total = linear(input, self._own.input) + linear(state, self._own.state)
            return total.tanh() if self.nonlinearity == "tanh" else total.relu()
