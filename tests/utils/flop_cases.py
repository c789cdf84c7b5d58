"""Calls whose floating point operations are counted, in torch to record and in funcgrad to test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Calls:
    """The calls, written once for a library that is torch or stands in for it."""

    def __init__(self, torch: Any) -> None:
        self.torch, self.nn, self.F = torch, torch.nn, torch.nn.functional

    def n(self, *shape: int) -> Any:
        """Return numbers."""
        return self.torch.randn(*shape)

    def r(self, *shape: int) -> Any:
        """Return numbers that require a gradient."""
        return self.torch.randn(*shape, requires_grad=True)

    def gradients_of_gradients(self) -> Any:
        w = self.r(3, 4)
        (first,) = self.torch.autograd.grad((self.r(2, 3) @ w).pow(2).sum(), w, create_graph=True)
        self.torch.autograd.grad(first.pow(2).sum(), w)

    def checkpointed(self) -> Any:
        w = self.r(4, 3)
        block = lambda x: self.torch.tanh(self.F.linear(x, w))  # noqa: E731 - the whole of the block
        return self.torch.utils.checkpoint.checkpoint(block, self.r(2, 3), use_reentrant=False)

    def packed_gru(self) -> Any:
        packed = self.nn.utils.rnn.pack_padded_sequence(self.n(5, 2, 3), [5, 3])
        return self.nn.GRU(3, 4)(packed, self.r(1, 2, 4))[0].data


CASES: dict[str, Callable[[Calls], Any]] = {
    "mm": lambda c: c.r(2, 3) @ c.r(3, 4),
    "mm, one gradient": lambda c: c.r(2, 3) @ c.n(3, 4),
    "mm, no gradient": lambda c: c.n(2, 3) @ c.n(3, 4),
    "matrix times vector": lambda c: c.r(2, 3) @ c.r(3),
    "vector times vector": lambda c: c.r(3) @ c.r(3),
    "vector times matrix": lambda c: c.r(3) @ c.r(3, 4),
    "batch times matrix": lambda c: c.r(5, 2, 3) @ c.r(3, 4),
    "batch times vector": lambda c: c.r(5, 2, 3) @ c.r(3),
    "vector times batch": lambda c: c.r(2) @ c.r(5, 2, 3),
    "vector times batch, no gradient": lambda c: c.n(2) @ c.n(5, 2, 3),
    "matrix times batch": lambda c: c.r(4, 2) @ c.r(5, 2, 3),
    "matrix times batch, no gradient": lambda c: c.n(4, 2) @ c.n(5, 2, 3),
    "matrix times batch, its gradient": lambda c: c.n(4, 2) @ c.r(5, 2, 3),
    "bmm": lambda c: c.r(5, 2, 3) @ c.r(5, 3, 4),
    "batches that broadcast": lambda c: c.r(6, 1, 2, 3) @ c.r(1, 5, 3, 4),
    "linear": lambda c: c.F.linear(c.r(2, 3), c.r(4, 3), c.r(4)),
    "linear of a batch": lambda c: c.F.linear(c.r(5, 2, 3), c.r(4, 3), c.r(4)),
    "linear of a vector": lambda c: c.F.linear(c.r(3), c.r(4, 3), c.r(4)),
    "linear without bias": lambda c: c.F.linear(c.r(5, 2, 3), c.r(4, 3)),
    "linear with a vector": lambda c: c.F.linear(c.r(2, 3), c.r(3)),
    "addmm": lambda c: c.torch.addmm(c.r(2, 4), c.r(2, 3), c.r(3, 4)),
    "baddbmm": lambda c: c.torch.baddbmm(c.r(5, 2, 4), c.r(5, 2, 3), c.r(5, 3, 4)),
    "addbmm": lambda c: c.torch.addbmm(c.r(2, 4), c.r(5, 2, 3), c.r(5, 3, 4)),
    "outer": lambda c: c.torch.outer(c.r(2), c.r(3)),
    "inner": lambda c: c.torch.inner(c.r(2, 3), c.r(4, 3)),
    "inner with a vector": lambda c: c.torch.inner(c.r(2, 3), c.r(3)),
    "einsum": lambda c: c.torch.einsum("bhqd,bhkd->bhqk", c.r(5, 2, 3, 4), c.r(5, 2, 6, 4)),
    "einsum of three": lambda c: c.torch.einsum("ij,jk,kl->il", c.r(2, 3), c.r(3, 4), c.r(4, 5)),
    "einsum, the last two first": lambda c: c.torch.einsum("ij,jk,k->i", c.n(20, 30), c.n(30, 40), c.n(40)),
    "einsum with an ellipsis": lambda c: c.torch.einsum("...ij,jk->...ik", c.r(4, 3, 2), c.r(2, 3)),
    "einsum that sums nothing": lambda c: c.torch.einsum("bi,bj->bij", c.r(2, 3), c.r(2, 4)),
    "einsum of vectors": lambda c: c.torch.einsum("i,i->", c.r(3), c.r(3)),
    "einsum that sums one operand": lambda c: c.torch.einsum("ij,k->k", c.r(3, 2), c.r(3)),
    "tensordot": lambda c: c.torch.tensordot(c.r(2, 3, 4), c.r(3, 4, 5), dims=2),
    "multi_dot": lambda c: c.torch.linalg.multi_dot([c.r(20, 3), c.r(3, 40), c.r(40, 5), c.r(5, 2)]),
    "multi_dot between vectors": lambda c: c.torch.linalg.multi_dot([c.r(3), c.r(3, 40), c.r(40)]),
    "matrix_power": lambda c: c.torch.matrix_power(c.r(3, 3), 3),
    "matrix_power 7 of a batch": lambda c: c.torch.matrix_power(c.n(2, 3, 3), 7),
    "conv1d": lambda c: c.F.conv1d(c.r(2, 3, 10), c.r(4, 3, 3), c.r(4)),
    "conv2d": lambda c: c.F.conv2d(c.r(2, 3, 10, 10), c.r(4, 3, 3, 3), padding=1, stride=2),
    "conv2d, one gradient": lambda c: c.F.conv2d(c.n(2, 3, 10, 10), c.r(4, 3, 3, 3), padding=1, stride=2),
    "conv2d, the bias' gradient": lambda c: c.F.conv2d(c.n(2, 3, 10, 10), c.n(4, 3, 3, 3), c.r(4)),
    "conv2d of one image": lambda c: c.F.conv2d(c.r(3, 10, 10), c.r(4, 3, 3, 3)),
    "conv2d, depthwise": lambda c: c.F.conv2d(c.r(2, 4, 10, 10), c.r(4, 1, 3, 3), groups=4),
    "conv3d": lambda c: c.F.conv3d(c.r(2, 3, 6, 6, 6), c.r(4, 3, 3, 3, 3)),
    "conv_transpose2d": lambda c: c.F.conv_transpose2d(c.r(2, 3, 6, 6), c.r(3, 4, 3, 3), stride=2),
    "conv_transpose1d in groups": lambda c: c.F.conv_transpose1d(c.r(2, 4, 6), c.r(4, 3, 3), groups=2),
    "attention": lambda c: c.F.scaled_dot_product_attention(c.r(2, 3, 5, 8), c.r(2, 3, 6, 8), c.r(2, 3, 6, 8)),
    "attention of three dimensions": lambda c: c.F.scaled_dot_product_attention(
        c.r(3, 5, 8), c.r(3, 6, 8), c.r(3, 6, 8)
    ),
    "attention, a mask with a gradient": lambda c: c.F.scaled_dot_product_attention(
        c.r(2, 3, 5, 8), c.r(2, 3, 6, 8), c.r(2, 3, 6, 8), attn_mask=c.r(5, 6)
    ),
    "attention, wider values": lambda c: c.F.scaled_dot_product_attention(
        c.r(2, 4, 5, 8), c.r(2, 4, 6, 8), c.r(2, 4, 6, 9)
    ),
    "attention on meta": lambda c: c.F.scaled_dot_product_attention(*[c.n(2, 3, 5, 8).to("meta").requires_grad_()] * 3),
    "LSTM": lambda c: c.nn.LSTM(3, 4, 2)(c.n(5, 2, 3))[0],
    "LSTM in double precision": lambda c: c.nn.LSTM(3, 4, 2, bidirectional=True).double()(c.n(5, 2, 3).double())[0],
    "LSTM with a projection": lambda c: c.nn.LSTM(3, 4, proj_size=2)(c.n(5, 2, 3))[0],
    "GRU": lambda c: c.nn.GRU(3, 4)(c.n(5, 2, 3))[0],
    "GRU without biases": lambda c: c.nn.GRU(3, 4, bias=False)(c.n(5, 2, 3))[0],
    "GRU of packed sequences": Calls.packed_gru,
    "RNN": lambda c: c.nn.RNN(3, 4)(c.n(5, 2, 3))[0],
    "LSTMCell": lambda c: c.nn.LSTMCell(3, 4)(c.n(2, 3))[0],
    "GRUCell": lambda c: c.nn.GRUCell(3, 4)(c.n(2, 3)),
    "modules": lambda c: c.nn.Sequential(c.nn.Linear(3, 4), c.nn.ReLU(), c.nn.Linear(4, 2))(c.n(5, 3)),
    "vmap": lambda c: c.torch.vmap(lambda x: x @ x)(c.n(5, 3, 3)),
    "vmap over one factor": lambda c: c.torch.vmap(lambda x, w: w @ x, (0, None))(c.n(5, 3, 3), c.n(3, 3)),
    "func.grad": lambda c: c.torch.func.grad(lambda x: (x @ x).sum())(c.n(3, 3)),
    "func.jvp": lambda c: c.torch.func.jvp(lambda x: x @ x, (c.n(3, 3),), (c.n(3, 3),))[0],
    "gradients of gradients": Calls.gradients_of_gradients,
    "a checkpoint": Calls.checkpointed,
}


def counts(torch: Any, case: str) -> dict[str, dict[str, int]]:
    """Return what the counter finds in a call and, where it has a gradient, in its backward."""
    with torch.utils.flop_counter.FlopCounterMode(display=False) as counter:
        result = CASES[case](Calls(torch))
        if result is not None and result.requires_grad:
            result.sum().backward()
    found = counter.get_flop_counts()
    return {name: {str(kernel): n for kernel, n in sorted(of.items(), key=str)} for name, of in sorted(found.items())}
