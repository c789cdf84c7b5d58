"""The recurrences themselves: one step, and one direction of one layer over a sequence."""

from __future__ import annotations

from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.nn import functional as F


def run_cell(mode: str, input: Tensor, states: list[Tensor], weights: list[Tensor]) -> list[Tensor]:
    gates, h = F.linear(input, weights[0], weights[2]), F.linear(states[0], weights[1], weights[3])
    if mode == "LSTM":
        i, f, g, o = (gates + h).chunk(4, -1)
        c = f.sigmoid() * states[1] + i.sigmoid() * g.tanh()
        return [o.sigmoid() * c.tanh(), c]
    if mode == "GRU":
        (r, z, n), (hr, hz, hn) = gates.chunk(3, -1), h.chunk(3, -1)
        r, z = (r + hr).sigmoid(), (z + hz).sigmoid()
        n = (n + r * hn).tanh()
        return [(states[0] - n) * z + n]
    return [(gates + h).tanh() if mode == "RNN_TANH" else (gates + h).relu()]


def run_direction(mode, input, states, weights, has_bias, has_proj, reverse, batch_sizes):
    w = [weights[0], weights[1], *(weights[2:4] if has_bias else (None, None))]
    proj = weights[-1] if has_proj else None
    outs = []
    steps = list(range(input.shape[0]))
    if batch_sizes is not None:
        raise RuntimeError
    for t in reversed(steps) if reverse else steps:
        states = run_cell(mode, input[t], states, w)
        if proj is not None:
            states = [F.linear(states[0], proj), states[1]]
        outs.append(states[0])
    return fg.stack(outs[::-1] if reverse else outs), states
