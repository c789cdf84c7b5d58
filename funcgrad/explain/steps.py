"""The steps of a script that nobody prepared for it: loss, gradients, parameters, optimizer states after each."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np

from funcgrad._program.counters import counters
from funcgrad._tape.nodes import GradSlot
from funcgrad._tensor.differentiate import backward_observed
from funcgrad._tensor.tensor import Tensor
from funcgrad.explain.programs import program
from funcgrad.explain.watching import nodes_behind
from funcgrad.func.compare import Ran
from funcgrad.nn.module import Module
from funcgrad.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook


class Enough(SystemExit):
    """As many steps as were asked for are done: the script need not go on."""


class Steps:
    """What a script did to its parameters, a step after the other.

    A step ends where an optimizer that took part in it steps again, so two optimizers make one step a turn; and, in a
    script that moves its parameters by hand, at the next backward.
    trees: for each step, the loss, gradients, parameters, buffers and optimizer states by path.
    """

    def __init__(self, count: int) -> None:
        self.count, self.jaxpr = count, ""
        self.trees: list[dict[str, np.ndarray[Any, Any]]] = []
        self.ran = Ran([], [], [], 0)
        self._names: dict[int, tuple[Tensor, str]] = {}  # the tensor too, so that no other one gets its id
        self._tree: dict[str, np.ndarray[Any, Any]] = {}
        self._stepped: set[int] = set()
        self._root: Tensor | None = None
        self._reached: list[tuple[Tensor, Any, Tensor]] = []  # leaves, what they were at backward, and their gradients
        self._modules: dict[int, Module] = {}  # those that the present step has changed
        self._stepping = False
        self._spent, self._since, self._live = 0.0, 0.0, 0

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Note the steps that are made inside; raises Enough when all are there."""
        before, self._live = counters.compiles, _live_bytes()
        handles = [
            register_optimizer_step_pre_hook(self._before), register_optimizer_step_post_hook(self._after)
        ]  # fmt: skip
        try:
            with backward_observed(self._noting_backward):
                yield
        finally:
            for handle in handles:
                handle.remove()
            if len(self.trees) < self.count:
                self._by_hand()
                if self._stepped:
                    self._close()
            self.ran = self.ran._replace(programs=counters.compiles - before)

    @contextmanager
    def _noting_backward(self, roots: Sequence[Tensor], _: bool) -> Iterator[None]:
        self._since = self._since or time.perf_counter()
        root = roots[-1]
        if not self._stepping and not self._stepped:
            self._by_hand()
            slots = [node.variable for node in nodes_behind(root) if type(node) is GradSlot]
            leaves = [leaf for leaf in slots if leaf is not None]  # None: nobody holds it any more
            yield
            self._reached = [(p, p._current().value, p.grad.clone()) for p in leaves if p.grad is not None]
        else:
            yield
        self._root = root

    def _by_hand(self) -> None:
        """End the step of a script without an optimizer, if a leaf has been moved since its gradient was computed."""
        if all(p._current().value is value for p, value, _ in self._reached):
            return
        self._end_of_update()
        self._tree.update(self._seen([p for p, _, _ in self._reached], {id(p): grad for p, _, grad in self._reached}))
        self._close()
        self._since = time.perf_counter()
        if len(self.trees) == self.count:
            raise Enough(0)

    def _before(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if id(optimizer) in self._stepped:
            self._close()
        if len(self.trees) == self.count:
            raise Enough(0)
        self._stepping, self._reached = True, []

    def _after(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self._end_of_update()
        self._stepping = False
        self._stepped.add(id(optimizer))
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        self._tree.update(self._seen(parameters, {id(p): p.grad for p in parameters if p.grad is not None}))
        for parameter in parameters:
            for slot, kept in optimizer.state.get(parameter, {}).items():
                if isinstance(kept, Tensor):
                    self._tree[f"optimizer/{slot}/{self._names[id(parameter)][1]}"] = _numbers(kept)
        self._since = time.perf_counter()

    def _end_of_update(self) -> None:
        is_one = self._root is not None and self._root.numel() == 1
        loss = float(self._root.detach()) if self._root is not None and is_one else float("nan")
        jax.block_until_ready(jax.live_arrays())
        self._spent += time.perf_counter() - self._since
        if not self.jaxpr:
            self.jaxpr = str(program().jaxpr)
        self._tree["loss"] = np.float64(loss)  # type: ignore[assignment]  # an array of one number

    def _close(self) -> None:
        self.trees.append(self._tree)
        self.ran.losses.append(float(self._tree["loss"]))
        self.ran.seconds.append(self._spent)
        self.ran.live_bytes.append(_live_bytes() - self._live)
        self._tree, self._spent, self._stepped, self._reached, self._modules = {}, 0.0, set(), [], {}

    def _seen(self, parameters: list[Tensor], grads: dict[int, Tensor]) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
        if any(id(p) not in self._names for p in parameters):
            self._names.update((id(p), (p, name)) for p, name in _names_of(parameters))
        for parameter in parameters:
            name = self._names[id(parameter)][1]
            yield name, _numbers(parameter)
            if id(parameter) in grads:
                yield f"grad/{name}", _numbers(grads[id(parameter)])
        self._modules.update((id(module), module) for module in _owners(parameters))
        for module in self._modules.values():  # of another optimizer's module, too: it may have been called since
            yield from ((_path(module, name), _numbers(buffer)) for name, buffer in module.named_buffers())


def _numbers(tensor: Tensor) -> np.ndarray[Any, Any]:
    return np.array(tensor.detach().cpu().numpy())  # a view would hold its array


def _live_bytes() -> int:
    return sum(array.nbytes for array in jax.live_arrays())


def _owners(parameters: list[Any]) -> list[Module]:
    """Return the modules, in no other one, that own some of these parameters."""
    wanted = {id(p) for p in parameters}
    modules = [x for x in gc.get_objects() if issubclass(type(x), Module)]
    inner = {id(child) for module in modules for child in module.children()}
    tops = [module for module in modules if id(module) not in inner]
    return [module for module in tops if any(id(p) in wanted for p in module.parameters())]


def _path(module: Module, name: str) -> str:
    """Return where a tensor is: what the script calls the module (else its class), then the name inside."""
    names = vars(sys.modules["__main__"])
    label = next((name for name, found in names.items() if found is module), type(module).__name__)
    return f"{label}/{name.replace('.', '/')}"


def _names_of(parameters: list[Tensor]) -> Iterator[tuple[Tensor, str]]:
    yield from ((p, f"params/{i}") for i, p in enumerate(parameters))
    wanted = {id(p) for p in parameters}
    named = reversed(vars(sys.modules["__main__"]).items())  # of two names for one tensor, the earlier stays
    yield from ((x, name) for name, x in list(named) if id(x) in wanted)
    for module in _owners(parameters):
        yield from ((p, _path(module, name)) for name, p in module.named_parameters())
