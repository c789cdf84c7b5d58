"""torch.autograd.graph: hooks on what is saved for backward, hooks on several gradients at once, and edges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from funcgrad._base.devices import device
from funcgrad._tape.modes import thread
from funcgrad._tape.nodes import Node, RemovableHandle
from funcgrad._tape.packing import Hooks
from funcgrad._tensor.differentiate import GradientEdge
from funcgrad._tensor.moving import moved
from funcgrad._tensor.tensor import Tensor

__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks", "get_gradient_edge",
    "increment_version", "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks",
]  # fmt: skip


class _Forbidden:
    """In the place of hooks where none may be set: why."""

    reason: str | None = None


class saved_tensors_hooks:  # noqa: N801 - torch's own spelling
    """A block in which pack_hook(tensor) is kept in place of each tensor saved for backward.

    Backward gets unpack_hook of it. Of nested blocks the inner one counts. What is saved is known when it is recorded,
    so a hook that looks at numbers makes the program run there.
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        if _Forbidden.reason is not None:
            raise RuntimeError(_Forbidden.reason)
        thread.saved_hooks.append(Hooks(self.pack_hook, self.unpack_hook))

    def __exit__(self, *_: object) -> None:
        thread.saved_hooks.pop()


class save_on_cpu(saved_tensors_hooks):  # noqa: N801 - torch's own spelling
    """A block in which what is saved for backward rests in the host's memory, and returns when it is needed."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        host = device("cpu")

        def unpacked(kept: tuple[Any, Tensor]) -> Tensor:
            origin, tensor = kept
            return tensor if origin == host else moved(tensor, origin)

        super().__init__(lambda x: (x.device, x if x.device == host else moved(x.detach(), host)), unpacked)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Give a block in which setting hooks on saved tensors raises RuntimeError with this message."""
    before, _Forbidden.reason = _Forbidden.reason, error_message
    try:
        yield
    finally:
        _Forbidden.reason = before


class _Changeable:
    """What `allow_mutation_on_saved_tensors` gives: torch's keeps copies of what was changed; nothing is kept here."""

    entered = False

    def clear(self) -> None:
        """Let go of all copies."""


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_Changeable]:
    """Give a block in which saved tensors may be changed in place: here they always may. RuntimeError: nested."""
    if _Changeable.entered:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    _Changeable.entered = True
    try:
        yield _Changeable()
    finally:
        _Changeable.entered = False


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Return where in the graph the tensor's gradient arrives. RuntimeError for one that requires no grad."""
    variable = tensor._current()
    if variable.node is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(variable.node, variable.index)


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Let `_version` say that a tensor was written to."""
    for each in [tensor] if isinstance(tensor, Tensor) else tensor:
        each._whole._writes += 1


class _HandleOfMany:
    """What takes several hooks away at once."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Take the hooks away; a second time does nothing."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> _HandleOfMany:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: str = "all"
) -> AbstractContextManager[Any]:
    """Call fn once in each backward pass: with all gradients (None for what it does not reach), or with the first.

    mode "all": fn([gradient of each tensor]), after the last of them is computed; AssertionError for a tensor that
    requires no grad. mode "any": fn(gradient); tensors that require none are passed over.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        tensors = [tensor for tensor in tensors if tensor.requires_grad]
    elif not all(tensor.requires_grad for tensor in tensors):
        raise AssertionError("Expected gradient function to be set")
    waiting = _Waiting([get_gradient_edge(tensor) for tensor in tensors], fn, mode)
    return _HandleOfMany([tensor.register_hook(waiting.hook(place)) for place, tensor in enumerate(tensors)])


class _Waiting:
    """The gradients of several tensors that have come in the present backward pass."""

    def __init__(self, edges: Sequence[GradientEdge], fn: Callable[..., None], mode: str) -> None:
        self.edges, self.fn, self.mode = edges, fn, mode
        self.present: Any = None
        self.missing = 0
        self.found: list[Tensor | None] = []

    def hook(self, place: int) -> Callable[[Tensor], None]:
        """Return the hook of one of the tensors."""
        return lambda gradient: self._arrive(place, gradient)

    def _arrive(self, place: int, gradient: Tensor) -> None:
        if self.present is not thread.running:
            self._begin()
        self.found[place] = gradient
        self.missing -= 1
        if self.missing == 0:
            self.fn(self.found if self.mode == "all" else gradient)

    def _begin(self) -> None:
        self.present = thread.running
        reached = self.present.nodes()
        self.found = [None] * len(self.edges)
        self.missing = 1 if self.mode == "any" else sum(edge.node in reached for edge in self.edges)
