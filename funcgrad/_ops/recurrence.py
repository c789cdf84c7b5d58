"""Recurrences over time as scans whose backward is a scan of one product each step, with all else in bulk around it.

In bulk: the input's share of the gates (given), the derivatives of the gates, the weights' gradients. Gates that share
an activation lie side by side, or come as arrays of their own: sliced out of a fused loop they are not vectorized.
`python -m tests.benchmarks.rows --workloads lstm gru rnn`, 2 CPU cores, 32 -> 64, 50 steps, batch 16, forward and
backward: 1.2, 0.9 and 0.4 ms (torch 0.8, 8 and 1.6). Unrolling makes it slower.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

from funcgrad._ops.own_vjp import with_own_vjp
from funcgrad._ops.table import Array


def scan_masked(
    step: Callable[[Any, Array], tuple[Array, ...]],
    state: tuple[Array, ...],
    gates: Array,
    lengths: Array,
    reverse: bool,
) -> tuple[tuple[Array, ...], Array]:
    """Run any step over sequences of these lengths: beyond its end a sequence keeps its state, and its result is 0."""
    inside = (jnp.arange(gates.shape[0])[:, None] < lengths)[..., None]

    def masked(old: tuple[Array, ...], turn: tuple[Array, Array]) -> tuple[tuple[Array, ...], Array]:
        share, within = turn
        new = tuple(jnp.where(within, n, o) for n, o in zip(step(old, share), old, strict=True))
        return new, jnp.where(within, new[0], jnp.zeros_like(new[0]))

    return lax.scan(masked, state, (gates, inside), reverse=reverse)


def lstm_step(
    state: tuple[Array, ...], share: Array, weight: Array, projection: Array | None = None
) -> tuple[Array, ...]:
    """One step of an LSTM: state (h, c), gates in the order i, f, o, g. Shape: share (N, 4H), weight (4H, H)."""
    hidden, cell = state
    size = cell.shape[-1]
    gates = share + hidden @ weight.T
    opened = lax.logistic(gates[..., : 3 * size])
    written = jnp.tanh(gates[..., 3 * size :])
    cell = opened[..., size : 2 * size] * cell + opened[..., :size] * written
    hidden = opened[..., 2 * size :] * jnp.tanh(cell)
    return (hidden if projection is None else hidden @ projection.T), cell


def gru_step(state: tuple[Array, ...], share: Array, weight: Array, bias: Array) -> tuple[Array, ...]:
    """One step of a GRU: state (h,), gates r, z, n; `bias` is n's inner one. Shape: share (N, 3H), weight (3H, H)."""
    return (_gru_parts(state[0], _thirds(share), weight, bias)[0],)


def lstm_order(weight: Array) -> Array:
    """Bring torch's gates i, f, g, o into the order i, f, o, g, or back again."""
    i, f, g, o = jnp.split(weight, 4)
    return jnp.concatenate([i, f, o, g])


def rnn_step(state: tuple[Array, ...], share: Array, weight: Array, relu: bool) -> tuple[Array, ...]:
    """One step of an Elman network: state (h,). Shape: share (N, H), weight (H, H)."""
    gates = share + state[0] @ weight.T
    return (jnp.where(gates <= 0, jnp.zeros_like(gates), gates) if relu else jnp.tanh(gates),)


def _previous(first: Array, all_: Array, reverse: bool) -> Array:
    """Return what each step started from."""
    return jnp.concatenate([all_[1:], first[None]] if reverse else [first[None], all_[:-1]])


def _weight_gradient(gates: Array, hidden: Array) -> Array:
    """Sum gates^T hidden over times and batch; quicker with a transpose made beforehand."""
    return lax.optimization_barrier(gates.reshape(-1, gates.shape[-1]).T) @ hidden.reshape(-1, hidden.shape[-1])


@with_own_vjp(4)
def lstm_scan(gates: Array, hidden: Array, cell: Array, weight: Array, reverse: bool) -> tuple[Array, Array]:
    """Run an LSTM: all hidden states and the last cell. Shape: gates (T, N, 4H), order i, f, o, g, weight (4H, H).

    The weight is in torch's order: one in another order would be kept for backward besides it.
    """
    ordered = lstm_order(weight)

    def step(state: tuple[Array, ...], share: Array) -> tuple[tuple[Array, ...], Array]:
        new = lstm_step(state, share, ordered)
        return new, new[0]

    (_, last), states = lax.scan(step, (hidden, cell), gates, reverse=reverse)
    return states, last


def _lstm_forward(gates: Array, hidden: Array, cell: Array, weight: Array, reverse: bool) -> tuple[Any, Any]:
    size, ordered = cell.shape[-1], lstm_order(weight)

    def step(state: tuple[Array, Array], share: Array) -> tuple[Any, Any]:
        before = share + state[0] @ ordered.T
        opened = lax.logistic(before[:, : 3 * size])
        written = jnp.tanh(before[:, 3 * size :])
        new_cell = opened[:, size : 2 * size] * state[1] + opened[:, :size] * written
        new_hidden = opened[:, 2 * size :] * jnp.tanh(new_cell)
        return (new_hidden, new_cell), (new_hidden, new_cell, opened, written)

    (_, last), (states, cells, opened, written) = lax.scan(step, (hidden, cell), gates, reverse=reverse)
    return (states, last), (hidden, cell, states, cells, opened, written, weight)


def _lstm_backward(reverse: bool, saved: Any, gradients: tuple[Array, Array]) -> tuple[Array, ...]:
    hidden, cell, states, cells, opened, written, weight = saved
    hiddens, shown, cells = _previous(hidden, states, reverse), jnp.tanh(cells), _previous(cell, cells, reverse)
    taken, kept, let = jnp.split(opened, 3, -1)
    by_gate = jnp.concatenate(
        [
            written * taken * (1 - taken), cells * kept * (1 - kept), shown * let * (1 - let),
            taken * (1 - written * written),
        ],
        -1,
    )  # fmt: skip
    through, ordered = let * (1 - shown * shown), lstm_order(weight)

    def step(later: tuple[Array, Array], turn: tuple[Array, ...]) -> tuple[Any, Array]:
        shift, by_gate, through, kept = turn
        by_hidden = later[0] + shift
        by_cell = later[1] + by_hidden * through
        by_gates = by_gate * jnp.concatenate([by_cell, by_cell, by_hidden, by_cell], -1)
        return (by_gates @ ordered, by_cell * kept), by_gates

    start = (jnp.zeros_like(hiddens[0]), gradients[1])
    turns = (gradients[0], by_gate, through, kept)
    (by_hidden, by_cell), by_gates = lax.scan(step, start, turns, reverse=not reverse)
    return by_gates, by_hidden, by_cell, lstm_order(_weight_gradient(by_gates, hiddens))


lstm_scan.defvjp(_lstm_forward, _lstm_backward)


def _thirds(gates: Array) -> tuple[Array, ...]:
    """Split the input's share by gate: cut out of one array inside the scan, it is not vectorized."""
    return tuple(jnp.split(gates, 3, -1))


def _gru_parts(hidden: Array, share: tuple[Array, ...], weight: Array, bias: Array) -> tuple[Array, ...]:
    inner = jnp.split(hidden @ weight.T, 3, -1)
    reset, kept = (lax.logistic(outer + own) for outer, own in zip(share[:2], inner[:2], strict=True))
    recalled = inner[2] + bias
    written = jnp.tanh(share[2] + reset * recalled)
    return written + kept * (hidden - written), reset, kept, recalled, written


@with_own_vjp(4)
def gru_scan(gates: Array, hidden: Array, weight: Array, bias: Array, reverse: bool) -> Array:
    """Run a GRU: all hidden states. Shape: gates r, z, n (T, N, 3H), weight (3H, H), bias (H,), n's inner one."""
    return _gru_forward(gates, hidden, weight, bias, reverse)[0]


def _gru_forward(gates: Array, hidden: Array, weight: Array, bias: Array, reverse: bool) -> tuple[Array, Any]:
    def step(state: Array, share: tuple[Array, ...]) -> tuple[Array, Any]:
        parts = _gru_parts(state, share, weight, bias)
        return parts[0], parts

    _, (states, *parts) = lax.scan(step, hidden, _thirds(gates), reverse=reverse)
    return states, (_previous(hidden, states, reverse), *parts, weight)


def _gru_backward(reverse: bool, saved: Any, gradient: Array) -> tuple[Array, ...]:
    hiddens, reset, kept, recalled, written, weight = saved
    by_written = (1 - kept) * (1 - written * written)
    by_opened = [by_written * recalled * reset * (1 - reset), (hiddens - written) * kept * (1 - kept)]
    by_inner = jnp.concatenate([*by_opened, by_written * reset], -1)

    def step(later: Array, turn: tuple[Array, ...]) -> tuple[Array, Array]:
        shift, by_inner, kept = turn
        by_hidden = later + shift
        return by_hidden * kept + (by_inner * jnp.concatenate([by_hidden] * 3, -1)) @ weight, by_hidden

    start = jnp.zeros_like(hiddens[0])
    by_first, by_hidden = lax.scan(step, start, (gradient, by_inner, kept), reverse=not reverse)
    wide = jnp.concatenate([by_hidden] * 3, -1)
    inner = by_inner * wide
    gates = jnp.concatenate([*by_opened, by_written], -1) * wide
    return gates, by_first, _weight_gradient(inner, hiddens), inner[..., 2 * hiddens.shape[-1] :].sum((0, 1))


gru_scan.defvjp(_gru_forward, _gru_backward)


@with_own_vjp(3, 4)
def rnn_scan(gates: Array, hidden: Array, weight: Array, relu: bool, reverse: bool) -> Array:
    """Run an Elman network: all hidden states. Shape: gates (T, N, H), weight (H, H)."""
    return _rnn_forward(gates, hidden, weight, relu, reverse)[0]


def _rnn_forward(gates: Array, hidden: Array, weight: Array, relu: bool, reverse: bool) -> tuple[Array, Any]:
    def step(state: Array, share: Array) -> tuple[Array, Array]:
        (new,) = rnn_step((state,), share, weight, relu)
        return new, new

    _, states = lax.scan(step, hidden, gates, reverse=reverse)
    return states, (_previous(hidden, states, reverse), states, weight)


def _rnn_backward(relu: bool, reverse: bool, saved: Any, gradient: Array) -> tuple[Array, ...]:
    hiddens, states, weight = saved
    slope = (states > 0).astype(states.dtype) if relu else 1 - states * states

    def step(later: Array, turn: tuple[Array, Array]) -> tuple[Array, Array]:
        by_gates = (later + turn[0]) * turn[1]
        return by_gates @ weight, by_gates

    by_first, by_gates = lax.scan(step, jnp.zeros_like(hiddens[0]), (gradient, slope), reverse=not reverse)
    return by_gates, by_first, _weight_gradient(by_gates, hiddens)


rnn_scan.defvjp(_rnn_forward, _rnn_backward)
