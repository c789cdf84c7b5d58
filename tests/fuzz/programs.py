"""Random straight-line programs, as lists of small integers, and an interpreter that runs one on any torch-like module.

A step is (what, which, other, number): what to do, to which of the tensors made so far, with which other, and a number
for dims, indices and constants. Shapes alone decide what a step means, so every module runs the same program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Step = tuple[int, int, int, int]
ROWS = 3


class Machine:
    """Runs the steps of one program on `torch`, which may be funcgrad or PyTorch. rows: the size of its tensors."""

    def __init__(self, torch: Any, seed: int, rows: int = ROWS) -> None:
        self.torch = torch
        rng = np.random.default_rng(seed)
        shapes = ((2, rows), (rows,), (rows, 2))
        self.leaves = [torch.tensor(rng.standard_normal(shape)).requires_grad_() for shape in shapes]
        self.tensors = [leaf * 1.0 for leaf in self.leaves]
        self.seen: list[Any] = []

    def run(self, steps: list[Step]) -> dict[str, Any]:
        """Run the steps and return all that can be seen of their effect."""
        for what, which, other, number in steps:
            made = STEPS[what % len(STEPS)](self, self.tensors[which % len(self.tensors)], other, number)
            if made is not None and made.numel() and abs(float(made.detach().abs().max())) < 1e6:
                self.tensors.append(made)
        self.backward(0)
        return {
            "tensors": [t.detach().numpy().copy() for t in self.tensors],
            "gradients": [None if leaf.grad is None else leaf.grad.numpy().copy() for leaf in self.leaves],
            "seen": self.seen,
            "needs": [t.requires_grad for t in self.tensors],
        }

    def backward(self, which: int) -> None:
        """Send the gradient of a few tensors back; the graph is kept for the next time."""
        roots = [t for t in self.tensors[which:] if t.requires_grad]
        if roots:
            sum((t * t).sum() for t in roots).backward(retain_graph=True)

    def other(self, which: int) -> Any:
        """Return one of the tensors."""
        return self.tensors[which % len(self.tensors)]


def _fitting(machine: Machine, tensor: Any, which: int) -> Any:
    """Return a tensor that broadcasts with this one, or a number."""
    for k in range(len(machine.tensors)):
        candidate = machine.other(which + k)
        try:
            np.broadcast_shapes(tuple(tensor.shape), tuple(candidate.shape))
        except ValueError:
            continue
        return candidate
    return 0.5


def _unary(name: str) -> Callable[..., Any]:
    def step(machine: Machine, tensor: Any, other: int, number: int) -> Any:
        return getattr(machine.torch, name)(tensor)

    return step


def _binary(name: str) -> Callable[..., Any]:
    def step(machine: Machine, tensor: Any, other: int, number: int) -> Any:
        return getattr(tensor, name)(_fitting(machine, tensor, other))

    return step


def _scaled(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    return tensor * (number * 0.25) + number


def _matmul(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    partner = machine.other(other)
    if tensor.ndim and partner.ndim and tensor.shape[-1] == partner.shape[max(partner.ndim - 2, 0)]:
        return tensor @ partner
    return None


def _sum(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    if not tensor.ndim or number % 3 == 0:
        return tensor.sum()
    return tensor.sum(number % tensor.ndim, keepdim=number % 2 == 0)


def _largest(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    return tensor.amax(number % tensor.ndim) if tensor.ndim else tensor.clone()


def _item(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    machine.seen.append(float(tensor.detach().sum().item()))
    return None


def _branch(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    return tensor * 2 if tensor.detach().sum().item() > 0.1234 else tensor - 1


def _select(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    return tensor[number % tensor.shape[0]] if tensor.ndim else None


def _slice(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    return tensor[number % tensor.shape[0] :] if tensor.ndim else None


def _column(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    return tensor[:, number % tensor.shape[1]] if tensor.ndim > 1 else tensor[..., None]


def _stepped(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    return tensor[..., ::2] if tensor.ndim else None


def _gathered(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    if not tensor.ndim:
        return None
    size = tensor.shape[0]
    return tensor[machine.torch.tensor([number % size, 0, (number + 1) % size])]


def _masked(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    return tensor[tensor.detach() > 0]


def _piece(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    return tensor.chunk(2, number % tensor.ndim)[other % 2 - 1] if tensor.ndim and tensor.numel() else None


def _near(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    """Return a tensor without a history, whose numbers the host has, to write to."""
    return machine.torch.tensor(np.arange(6.0).reshape(2, 3) - number)


def _divided(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    """Divide by zero from either side, among other numbers."""
    machine.seen.extend((tensor.detach().square().sum() + 1).div((0.0, -0.0, 0.5)[number % 3]).reshape(1).tolist())


def _transposed(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    return tensor.transpose(0, tensor.ndim - 1) if tensor.ndim else None


def _flat(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    return tensor.reshape(-1)


def _unsqueezed(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    return tensor.unsqueeze(number % (tensor.ndim + 1)) if tensor.ndim < 4 else tensor.squeeze()


def _joined(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    return machine.torch.cat([tensor, tensor * 2], 0) if tensor.ndim and tensor.numel() < 50 else None


def _detached(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    return tensor.detach() + number if number % 2 else tensor.detach()


def _without_history(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    with machine.torch.no_grad():
        return tensor * 0.5


def _add_in_place(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    tensor.add_(number * 0.5)


def _mul_in_place(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    partner = machine.other(other)
    fits = tensor.ndim <= 1 and tuple(partner.shape) in ((), (1,) * tensor.ndim, tuple(tensor.shape))
    tensor.mul_(partner if fits else 0.75)


def _in_place_without_history(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    with machine.torch.no_grad():
        tensor.mul_(0.5)


def _write_item(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    if tensor.ndim:
        tensor[number % tensor.shape[0]] = number * 0.1


def _write_slice(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    if tensor.ndim:
        tensor[number % tensor.shape[0] :] = machine.other(other).sum()


def _write_masked(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    tensor[tensor.detach() < 0] = number * 0.3


def _backward(machine: Machine, tensor: Any, other: int, number: int) -> Any:
    machine.backward(other % len(machine.tensors))


STEPS: list[Callable[[Machine, Any, int, int], Any]] = [
    *[_unary(name) for name in ("tanh", "sigmoid", "sin", "abs", "relu", "square", "neg")],
    *[_binary(name) for name in ("__add__", "__sub__", "__mul__", "maximum", "__rsub__")],
    _scaled, _matmul, _sum, _largest, _item, _branch, _select, _slice, _column, _stepped, _gathered, _masked,
    _transposed, _flat, _unsqueezed, _joined, _detached, _without_history, _add_in_place, _mul_in_place,
    _in_place_without_history, _write_item, _write_slice, _write_masked, _backward, _piece, _near, _divided,
]  # fmt: skip
