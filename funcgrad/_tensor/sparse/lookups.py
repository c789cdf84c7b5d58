"""Rows looked up in a table, of which a batch uses a few: the gradient of the table is sparse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad._base import dtypes
from funcgrad._ops.table import TABLE
from funcgrad._program.value import Aval, LiftedValue
from funcgrad._tape.modes import no_grad, thread
from funcgrad._tape.nodes import SECOND_TIME, Node
from funcgrad._tape.variable import Variable
from funcgrad._tensor.call import call
from funcgrad._tensor.overriding import Without
from funcgrad._tensor.sparse.pattern import Pattern
from funcgrad._tensor.sparse.tensor import SparseGradient
from funcgrad._tensor.tensor import Tensor


class EmbeddingBackward0(Node):
    """The history of rows looked up in a table, whose gradient is sparse."""

    __slots__ = ("aval", "edges", "indices", "options", "size")

    def __init__(self, rows: Variable, weight: Variable, indices: Variable, options: tuple[Any, ...]) -> None:
        """options: the padding's row, and whether gradients are divided by how often a row was looked up."""
        super().__init__()
        self.edges, self.aval, self.size = ((weight.node, weight.index),), rows.aval, weight.aval.shape
        self.indices: Variable | None = indices
        self.options = options

    @property
    def avals(self) -> tuple[Aval, ...]:  # type: ignore[override]  # one result
        return (self.aval,)

    def pull(self, cotangents: Sequence[Variable | None], apply: Callable[..., list[Variable]]) -> Sequence[Any]:
        """Return the gradient of each row that was looked up; the padding's are 0."""
        (gradient,), (padding, by_frequency) = cotangents, self.options
        if self.indices is None:
            raise RuntimeError(SECOND_TIME)
        if by_frequency:
            raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
        if gradient is None:
            return [None]
        with Without("asks_classes"):
            places, values = Tensor._of(self.indices).reshape(-1), Tensor._of(gradient).reshape(-1, self.size[1])
            if padding is not None:
                values = values.masked_fill((places == padding % self.size[0]).unsqueeze(1), 0)
            pattern = Pattern(self.size, places.to(dtypes.int64).unsqueeze(0), is_coalesced=False)
        return [SparseGradient(values._current(), pattern)]

    def release(self) -> None:
        """Let go of the indices."""
        self.indices = None


def looked_up(input: Tensor, weight: Tensor, padding_idx: int | None, by_frequency: bool) -> Tensor:
    """Return weight's rows at the indices, as `embedding` does; the gradient of weight is sparse."""
    variable = weight._current()
    is_lifted = any(isinstance(x._current().value, LiftedValue) for x in (input, weight))
    if is_lifted or variable.node is None or not thread.grad:
        return call(TABLE["embedding"], (input, weight), (padding_idx, None, 2.0, by_frequency, True))  # type: ignore[no-any-return]  # a tensor
    with no_grad():
        rows = call(TABLE["embedding"], (input, weight), (padding_idx, None, 2.0, False, True))
    made: Variable = rows._current()
    node = EmbeddingBackward0(made, variable, input._current(), (padding_idx, by_frequency))
    return Tensor._of(Variable(made.value, node))


EmbeddingBackward0.__module__ = "builtins"  # where torch's is
