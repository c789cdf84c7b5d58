"""Rows: recurrent networks over whole sequences, in layers and both directions, and their single steps.

`weights` come flat in torch's order: for each layer and direction weight_ih, weight_hh, then bias_ih, bias_hh where
there are biases, then weight_hr where an LSTM projects.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from funcgrad._ops.checks import scalar_name
from funcgrad._ops.recurrence import (
    gru_scan,
    gru_step,
    lstm_order,
    lstm_scan,
    lstm_step,
    rnn_scan,
    rnn_step,
    scan_masked,
)
from funcgrad._ops.table import Array, Arrays, Indices, op

_Layer = Callable[[Array, tuple[Array, ...], Sequence[Array], bool], tuple[Array, tuple[Array, ...]]]


def _lstm_grad(shapes: tuple, statics: tuple) -> str:
    return "CatBackward0" if statics[2:] == (True,) else "MkldnnRnnLayerBackward0"


@op(grad=_lstm_grad, names="", keep="residuals")
def lstm(
    input: Array,
    hx: Array,
    cx: Array,
    weights: Arrays,
    masks: Array | None = None,
    lengths: Indices | None = None,
    has_biases: bool = True,
    num_layers: int = 1,
    bidirectional: bool = False,
) -> tuple[Array, Array, Array]:
    """Long short-term memory: all states of the last layer, the last h of every layer, the last c of every layer.

    Shape: input (T, N, I), hx (layers * directions, N, H or projected), cx (layers * directions, N, H); masks
    (layers - 1, T, N, directions * H) multiply what goes from layer to layer (dropout); lengths (N,), each at most T.
    """
    layer = functools.partial(_lstm_layer, lengths, has_biases)
    _check("LSTM", input, (hx, cx), weights, num_layers, bidirectional, 4)
    output, (hidden, cell) = _layers(layer, input, (hx, cx), weights, masks, num_layers, bidirectional)
    return output, hidden, cell


def _stack_grad(shapes: tuple, statics: tuple) -> str:
    return "CatBackward0" if statics[2:] == (True,) else "StackBackward0"


@op(grad=_stack_grad, names="", keep="residuals")
def gru(
    input: Array,
    hx: Array,
    weights: Arrays,
    masks: Array | None = None,
    lengths: Indices | None = None,
    has_biases: bool = True,
    num_layers: int = 1,
    bidirectional: bool = False,
) -> tuple[Array, Array]:
    """Gated recurrent units: all states of the last layer, the last of every layer. Shape: as `lstm`."""
    layer = functools.partial(_gru_layer, lengths, has_biases)
    _check("GRU", input, (hx,), weights, num_layers, bidirectional, 3)
    output, (hidden,) = _layers(layer, input, (hx,), weights, masks, num_layers, bidirectional)
    return output, hidden


@op(grad=_stack_grad, names="", keep="residuals")
def rnn_tanh(
    input: Array,
    hx: Array,
    weights: Arrays,
    masks: Array | None = None,
    lengths: Indices | None = None,
    has_biases: bool = True,
    num_layers: int = 1,
    bidirectional: bool = False,
) -> tuple[Array, Array]:
    """tanh(W input + U state): all states of the last layer, the last of every layer. Shape: as `lstm`."""
    layer = functools.partial(_rnn_layer, False, lengths)
    _check("RNN_TANH", input, (hx,), weights, num_layers, bidirectional, 1)
    output, (hidden,) = _layers(layer, input, (hx,), weights, masks, num_layers, bidirectional)
    return output, hidden


@op(grad=_stack_grad, names="", keep="residuals")
def rnn_relu(
    input: Array,
    hx: Array,
    weights: Arrays,
    masks: Array | None = None,
    lengths: Indices | None = None,
    has_biases: bool = True,
    num_layers: int = 1,
    bidirectional: bool = False,
) -> tuple[Array, Array]:
    """relu(W input + U state): all states of the last layer, the last of every layer. Shape: as `lstm`."""
    layer = functools.partial(_rnn_layer, True, lengths)
    _check("RNN_RELU", input, (hx,), weights, num_layers, bidirectional, 1)
    output, (hidden,) = _layers(layer, input, (hx,), weights, masks, num_layers, bidirectional)
    return output, hidden


@op(grad="MulBackward0", names="")
def lstm_cell(
    input: Array,
    hx: Array,
    cx: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None = None,
    b_hh: Array | None = None,
) -> tuple[Array, Array]:
    """One step of an LSTM: the new h and c. Shape: input (N, I) or (I,), hx and cx (N, H) or (H,), w_ih (4H, I)."""
    _check_cell(input, (hx, cx), w_ih, w_hh, 4)
    share = _share(input, lstm_order(w_ih), *(None if b is None else lstm_order(b) for b in (b_ih, b_hh)))
    hidden, cell = lstm_step((hx, cx), share, lstm_order(w_hh))
    return hidden, cell


@op(grad="AddBackward0", names="gru_cell")
def gru_cell(
    input: Array, hx: Array, w_ih: Array, w_hh: Array, b_ih: Array | None = None, b_hh: Array | None = None
) -> Array:
    """One step of a GRU: the new h. Shape: input (N, I) or (I,), hx (N, H) or (H,), w_ih (3H, I), w_hh (3H, H)."""
    _check_cell(input, (hx,), w_ih, w_hh, 3)
    share, bias = _gru_share(input, w_ih, w_hh, b_ih, b_hh)
    return gru_step((hx,), share, w_hh, bias)[0]


def _cell_grad(name: str) -> Callable[..., Any]:
    """Draw a plain cell as torch does: an activation of the sum of two linear layers."""

    def drawn(shapes: Sequence[Any], statics: Sequence[Any]) -> Any:
        return (name, ("AddBackward0", *[_linear_grad(shapes, *names) for names in _LAYERS_OF_CELL]))

    return drawn


_LAYERS_OF_CELL = (("input", "w_ih", "b_ih", 4), ("hx", "w_hh", "b_hh", 5))


def _linear_grad(shapes: Sequence[Any], input: str, weight: str, bias: str, place: int) -> Any:
    turned = ("TBackward0", weight)
    has_bias = len(shapes) > place and shapes[place] is not None
    return ("AddmmBackward0", bias, input, turned) if has_bias else ("MmBackward0", input, turned)


@op(grad=_cell_grad("TanhBackward0"), names="rnn_tanh_cell")
def rnn_tanh_cell(
    input: Array, hx: Array, w_ih: Array, w_hh: Array, b_ih: Array | None = None, b_hh: Array | None = None
) -> Array:
    """tanh(w_ih input + b_ih + w_hh hx + b_hh). Shape: input (N, I) or (I,), hx (N, H) or (H,)."""
    _check_cell(input, (hx,), w_ih, w_hh, 1)
    return rnn_step((hx,), _share(input, w_ih, b_ih, b_hh), w_hh, False)[0]


@op(grad=_cell_grad("ReluBackward0"), names="rnn_relu_cell")
def rnn_relu_cell(
    input: Array, hx: Array, w_ih: Array, w_hh: Array, b_ih: Array | None = None, b_hh: Array | None = None
) -> Array:
    """relu(w_ih input + b_ih + w_hh hx + b_hh). Shape: input (N, I) or (I,), hx (N, H) or (H,)."""
    _check_cell(input, (hx,), w_ih, w_hh, 1)
    return rnn_step((hx,), _share(input, w_ih, b_ih, b_hh), w_hh, True)[0]


def _layers(
    layer: _Layer, input: Array, states: tuple[Array, ...], weights: Sequence[Array], masks: Array | None,
    num_layers: int, bidirectional: bool,
) -> tuple[Array, tuple[Array, ...]]:  # fmt: skip
    """Run layer after layer, each in its directions; return the last one's results and all final states, stacked."""
    directions = 2 if bidirectional else 1
    each = len(weights) // (num_layers * directions)
    lasts: list[tuple[Array, ...]] = []
    for i in range(num_layers):
        outputs = []
        for d in range(directions):
            place = i * directions + d
            first = tuple(state[place] for state in states)
            output, last = layer(input, first, weights[place * each : (place + 1) * each], d == 1)
            outputs.append(output)
            lasts.append(last)
        input = jnp.concatenate(outputs, -1) if bidirectional else outputs[0]
        if masks is not None and i < num_layers - 1:
            input = input * masks[i]
    return input, tuple(jnp.stack(parts) for parts in zip(*lasts, strict=True))


def _lstm_layer(
    lengths: Array | None,
    has_biases: bool,
    input: Array,
    first: tuple[Array, ...],
    weights: Sequence[Array],
    reverse: bool,
) -> tuple[Array, tuple[Array, ...]]:
    w_ih, w_hh, *biases = weights[: 4 if has_biases else 2]
    projection = weights[-1] if len(weights) % 2 else None
    share = _lstm_share(input, w_ih, *biases)
    if projection is None and lengths is None:
        states, cell = lstm_scan(share, *first, w_hh, reverse)
        return states, (_final(states, reverse), cell)
    step = functools.partial(lstm_step, weight=lstm_order(w_hh), projection=projection)
    last, states = scan_masked(step, first, share, _all_of(lengths, input), reverse)
    return states, last


def _gru_layer(
    lengths: Array | None,
    has_biases: bool,
    input: Array,
    first: tuple[Array, ...],
    weights: Sequence[Array],
    reverse: bool,
) -> tuple[Array, tuple[Array, ...]]:
    w_ih, w_hh = weights[:2]
    share, bias = _gru_share(input, w_ih, w_hh, *(weights[2:4] if has_biases else (None, None)))
    if lengths is None:
        states = gru_scan(share, first[0], w_hh, bias, reverse)
        return states, (_final(states, reverse),)
    last, states = scan_masked(functools.partial(gru_step, weight=w_hh, bias=bias), first, share, lengths, reverse)
    return states, last


def _rnn_layer(
    relu: bool, lengths: Array | None, input: Array, first: tuple[Array, ...], weights: Sequence[Array], reverse: bool
) -> tuple[Array, tuple[Array, ...]]:  # fmt: skip
    share = _share(input, weights[0], *weights[2:4])
    if lengths is None:
        states = rnn_scan(share, first[0], weights[1], relu, reverse)
        return states, (_final(states, reverse),)
    last, states = scan_masked(
        functools.partial(rnn_step, weight=weights[1], relu=relu), first, share, lengths, reverse
    )
    return states, last


def _share(input: Array, weight: Array, *biases: Array | None) -> Array:
    """Return the input's share of the gates, for all times in one product."""
    share = input @ weight.T
    given = [b for b in biases if b is not None]
    return share + sum(given[1:], given[0]) if given else share


@functools.partial(jax.checkpoint, prevent_cse=False)
def _lstm_share(input: Array, *weights: Array) -> Array:
    """Return the input's share of an LSTM's gates; backward brings the weights into their order once more."""
    return _share(input, *map(lstm_order, weights))


def _gru_share(input: Array, w_ih: Array, w_hh: Array, b_ih: Array | None, b_hh: Array | None) -> tuple[Array, Array]:
    """Return the input's share and n's inner bias, which alone cannot be added beforehand: r scales it."""
    size = w_hh.shape[1]
    if b_hh is None:
        return _share(input, w_ih, b_ih), jnp.zeros(size, input.dtype)
    outer = jnp.concatenate([b_hh[: 2 * size], jnp.zeros_like(b_hh[:size])])
    return _share(input, w_ih, b_ih, outer), b_hh[2 * size :]


def _final(states: Array, reverse: bool) -> Array:
    return states[0] if reverse else states[-1]


def _all_of(lengths: Array | None, input: Array) -> Array:
    return jnp.full(input.shape[1], input.shape[0]) if lengths is None else lengths


def _check(
    name: str, input: Array, states: tuple[Array, ...], weights: Sequence[Array], num_layers: int, bidirectional: bool,
    gates: int,
) -> None:  # fmt: skip
    if input.ndim != 3:
        raise RuntimeError(f"{name}: Expected input (T, N, I) with 3 dimensions, but got {list(input.shape)}")
    if input.shape[0] == 0:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    rows = num_layers * (2 if bidirectional else 1)
    if not weights or len(weights) % rows:
        raise RuntimeError(f"{name}: expected weights for {rows} layers and directions, but got {len(weights)} tensors")
    if weights[0].shape[1] != input.shape[2]:
        raise RuntimeError(
            f"input.size(-1) must be equal to input_size. Expected {weights[0].shape[1]}, got {input.shape[2]}"
        )
    if weights[0].dtype != input.dtype:
        raise RuntimeError(f"expected scalar type {scalar_name(input)} but found {scalar_name(weights[0])} ({name})")
    sizes = [weights[1].shape[1], weights[1].shape[0] // gates]
    for place, (state, size) in enumerate(zip(states, sizes, strict=False)):
        expected = (rows, input.shape[1], size)
        if state.shape != expected:
            raise RuntimeError(f"Expected hidden[{place}] size {expected}, got {list(state.shape)}")
        _check_multiplied(state, weights[1])


def _check_cell(input: Array, states: tuple[Array, ...], w_ih: Array, w_hh: Array, gates: int) -> None:
    if input.shape[-1] != w_ih.shape[1]:
        raise RuntimeError(f"input has inconsistent input_size: got {input.shape[-1]} expected {w_ih.shape[1]}")
    _check_multiplied(input, w_ih)
    _check_multiplied(states[0], w_hh)
    for i, state in enumerate(states):
        if state.shape[:-1] != input.shape[:-1]:
            sizes = [shape[0] if len(shape) == 2 else shape[:-1] for shape in (input.shape, state.shape)]
            raise RuntimeError(f"Input batch size {sizes[0]} doesn't match hidden{i} batch size {sizes[1]}")
        if state.shape[-1] != w_hh.shape[1] or w_hh.shape[0] != gates * w_hh.shape[1]:
            raise RuntimeError(
                f"hidden{i} has inconsistent hidden_size: got {state.shape[-1]}, expected {w_hh.shape[1]}"
            )


def _check_multiplied(given: Array, weight: Array) -> None:
    if given.dtype != weight.dtype:
        raise RuntimeError(
            f"mat1 and mat2 must have the same dtype, but got {scalar_name(given)} and {scalar_name(weight)}"
        )
