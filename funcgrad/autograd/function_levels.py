"""A call of an autograd.Function inside a function that is being transformed: grad, vmap and jvp, one level at a time.

The Function is applied to what its arguments stand for below the highest level, where it leaves a node if one is
wanted. Then that level is given the result: a node of its own (grad), a batch (vmap), a derivative (jvp).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from funcgrad._tape.levels import BatchLevel, Level, Lifted, TangentLevel, still_lifted, thread
from funcgrad._tape.modes import no_grad
from funcgrad._tape.modes import thread as modes
from funcgrad._tensor import functions as fg
from funcgrad._tensor.tensor import Tensor
from funcgrad.autograd.function_node import backward_of, no_backward, node_of, with_node

NO_VMAP = (
    "You tried to vmap over {}, but it does not have vmap support. Please override and implement the vmap staticmethod "
    "or set generate_vmap_rule=True. For more details, please see "
    "https://pytorch.org/docs/main/notes/extending.func.html"
)
_NO_CONTEXT = (
    "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override "
    "the setup_context staticmethod. For more details, please see "
    "https://pytorch.org/docs/main/notes/extending.func.html"
)
_TWO_RULES = (
    "You tried to vmap over {}, but it has both generate_vmap_rule=True and an overridden vmap staticmethod. Please "
    "set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid ambiguity. For more details, "
    "please see https://pytorch.org/docs/main/notes/extending.func.html"
)


class VmapInfo(NamedTuple):
    """What a Function's `vmap` is told of the batch."""

    batch_size: int
    randomness: str


def no_vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> Any:
    """Return (results of a whole batch, the dimension of the batch in each). info: `batch_size`, `randomness`."""
    raise NotImplementedError(NO_VMAP.format("this Function"))


def apply_inside(function: Any, args: Sequence[Any], sets_context: bool) -> Any:
    """Apply a Function, some of whose arguments are at a level. RuntimeError: it cannot be transformed."""
    args = [Tensor._of(now) if isinstance(a, Tensor) and (now := _still(a)) is not a._variable else a for a in args]
    levels = [a._variable.value.level for a in args if isinstance(a, Tensor) and isinstance(a._variable.value, Lifted)]
    if not levels:
        return function.apply(*args)
    level = max(levels, key=lambda one: one.age)
    if not sets_context and not isinstance(level, TangentLevel):
        raise RuntimeError(_NO_CONTEXT)
    own = tuple(isinstance(a, Tensor) and level.is_own(a._variable) for a in args)
    below = [Tensor._of(level.lower(a._variable)) if is_own else a for a, is_own in zip(args, own, strict=True)]
    if isinstance(level, BatchLevel):
        return _of_batch(function, level, own, below)
    if isinstance(level, TangentLevel):
        return _with_derivative(function, level, args, own, below, sets_context)
    return _with_gradients(function, level, args, below)


def _still(tensor: Tensor) -> Any:
    return still_lifted(tensor._current())


def _each(answer: Any) -> tuple[Any, ...]:
    return answer if isinstance(answer, tuple) else (answer,)


def _like(answer: Any, results: Sequence[Any]) -> Any:
    return tuple(results) if isinstance(answer, tuple) else results[0]


def _with_gradients(function: Any, level: Level, args: Sequence[Any], below: Sequence[Any]) -> Any:
    answer = function.apply(*below)
    results = []
    for result in _each(answer):
        place = next((i for i, x in enumerate(below) if x is result), None)
        if not isinstance(result, Tensor) or not result._current().aval.differentiable:
            results.append(result)
        elif place is None:
            results.append(Tensor._of(level.lift(result._current())))
        else:  # an argument that forward returns, changed in place or not
            results.append(args[place]._write(level.lift(result._current())))
    lifted = _like(answer, results)
    node = node_of(function, args)
    with no_grad():
        function.setup_context(node.ctx, tuple(args), lifted)
    return with_node(node, args, lifted)


def _with_derivative(
    function: Any,
    level: TangentLevel,
    args: Sequence[Any],
    own: Sequence[bool],
    below: Sequence[Any],
    sets_context: bool,
) -> Any:
    answer = function.apply(*below)
    node = node_of(function, below)
    if sets_context:
        function.setup_context(node.ctx, tuple(below), answer)
    else:  # its ctx is filled by forward alone; the program does not compute it twice
        function.forward(node.ctx, *below)
    node.in_forward_mode()
    tangents = [_tangent(x, is_own, node.ctx._materialize) for x, is_own in zip(args, own, strict=True)]
    moved = _each(function.jvp(node.ctx, *tangents))
    pairs = zip(_each(answer), moved, strict=True)
    results = [_along(level, result, tangent, place) for place, (result, tangent) in enumerate(pairs)]
    for place, result in enumerate(_each(answer)):  # an argument that forward changed and returns
        changed = next((a for a, b, is_own in zip(args, below, own, strict=True) if is_own and b is result), None)
        if changed is not None:
            results[place] = changed._write(results[place]._current())
    return _with_history(function, args, _like(answer, results), sets_context)


def _with_history(function: Any, args: Sequence[Any], lifted: Any, sets_context: bool) -> Any:
    """Return results of forward mode with a node where an argument has one: gradients move in the direction too."""
    node = node_of(function, args)
    if not modes.grad or not any(node.ctx.needs_input_grad):
        return lifted
    with no_grad():
        if sets_context:
            function.setup_context(node.ctx, tuple(args), lifted)
        else:  # what it saves has to be at the level
            function.forward(node.ctx, *args)
    return with_node(node, args, lifted)


def _tangent(given: Any, is_own: bool, materialize: bool) -> Tensor | None:
    if is_own:
        return Tensor._of(given._variable.value.tangent)
    if materialize and isinstance(given, Tensor) and given.dtype.is_differentiable:
        return fg.zeros_like(given)
    return None


def _along(level: TangentLevel, result: Any, tangent: Any, place: int) -> Any:
    if not (tangent is None or isinstance(tangent, Tensor)):
        raise RuntimeError(f"expected Variable or None (got {type(tangent).__name__}) for grad output {place}.")
    if not isinstance(result, Tensor) or tangent is None or not result._current().aval.differentiable:
        return result
    if tangent.shape != result.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(result.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}."
        )
    return Tensor._of(level.along(result._current(), tangent._current()))


# Batches


def _of_batch(function: Any, level: BatchLevel, own: tuple[bool, ...], below: Sequence[Any]) -> Any:
    answer, dims = _mapped(function, level, own, below)
    places = dims if isinstance(dims, tuple) else (dims,) * len(_each(answer))
    return _like(answer, [_entry(level, *pair) for pair in zip(_each(answer), places, strict=True)])


def _mapped(function: Any, level: BatchLevel, own: tuple[bool, ...], below: Sequence[Any]) -> Any:
    """Return the results of a whole batch, and where the batch lies in them: by the Function's rule, or a made one."""
    if function.generate_vmap_rule and function.vmap is not no_vmap:
        raise RuntimeError(_TWO_RULES.format(function.__name__))
    if function.generate_vmap_rule:
        return _rule(function, level.size, level.randomness, own).apply(*below), 0
    if function.vmap is no_vmap:
        raise RuntimeError(NO_VMAP.format(function.__name__))
    dims = tuple(0 if is_own else None for is_own in own)
    return function.vmap(VmapInfo(level.size, level.randomness), dims, *below)


def _entry(level: BatchLevel, given: Any, dim: int | None) -> Any:
    if dim is None or not isinstance(given, Tensor):
        return given
    first = given if dim == 0 else fg.movedim(given, dim, 0)
    return Tensor._of(level.lift(first._current()))


@contextmanager
def _running(size: int, randomness: str) -> Iterator[BatchLevel]:
    level = BatchLevel(size, randomness)
    thread.batches.append(level)
    try:
        yield level
    finally:
        thread.batches.pop()
        level.finished = True


def _whole(level: BatchLevel, given: Any) -> Any:
    """Return the batch that a result stands for; what is the same for all entries is repeated."""
    if not isinstance(given, Tensor):
        return given
    if level.is_own(given._current()):
        return Tensor._of(level.lower(given._current()))
    return given.unsqueeze(0).expand(level.size, *given.shape)


def _rule(function: Any, size: int, randomness: str, own: tuple[bool, ...]) -> Any:
    """Return the Function of whole batches: forward, backward and jvp of each entry, mapped over the batch.

    own: which arguments differ between the entries. The gradient of another one is the sum over all entries.
    """

    def entries(level: BatchLevel, args: Sequence[Any]) -> list[Any]:
        return [_entry(level, x, 0 if is_own else None) for x, is_own in zip(args, own, strict=True)]

    def entry_node(level: BatchLevel, args: Sequence[Any]) -> Any:
        """Return the node of each entry's call, which is made once more: the program does not compute it twice."""
        given = entries(level, args)
        node = node_of(function, given)
        node.ctx.needs_input_grad = tuple(isinstance(x, Tensor) for x in given)
        function.setup_context(node.ctx, tuple(given), function.apply(*given))
        return node

    def forward(*args: Any) -> Any:
        with _running(size, randomness) as level:
            answer = function.forward(*entries(level, args))
        return _like(answer, [_whole(level, result) for result in _each(answer)])

    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        tensors = [x for x in inputs if isinstance(x, Tensor)]
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        ctx.given = [(isinstance(x, Tensor), None if isinstance(x, Tensor) else x) for x in inputs]

    def arguments(ctx: Any) -> list[Any]:
        saved = iter(ctx.saved_tensors)
        return [next(saved) if is_tensor else x for is_tensor, x in ctx.given]

    def backward(ctx: Any, *grads: Any) -> Any:
        with _running(size, randomness) as level:
            inner = entry_node(level, arguments(ctx))
            answers = _each(backward_of(function)(inner.ctx, *[_entry(level, grad, 0) for grad in grads]))
        wholes = [_whole(level, answer) for answer in answers]
        return tuple(
            whole if is_own or whole is None else whole.sum(0) for whole, is_own in zip(wholes, own, strict=False)
        )

    def jvp(ctx: Any, *tangents: Any) -> Any:
        with _running(size, randomness) as level:
            inner = entry_node(level, arguments(ctx))
            inner.in_forward_mode()
            moved = function.jvp(inner.ctx, *entries(level, tangents))
        return _like(moved, [_whole(level, each) for each in _each(moved)])

    methods = {
        "forward": forward, "setup_context": setup_context, "backward": backward, "vjp": no_backward, "jvp": jvp,
    }  # fmt: skip
    rule = {name: staticmethod(method) for name, method in methods.items()}
    return type(f"Vmapped{function.__name__}", (function,), rule)
