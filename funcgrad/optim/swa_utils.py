"""Averages of a model's weights over training: equal means (SWA), exponential moving averages, their schedule.

A module is known here by what it can do (`parameters`, `buffers`, `register_buffer`), since nn is a floor above.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from functools import cache
from itertools import chain
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np

from funcgrad._ops.table import Array, Arrays, Op, Operand
from funcgrad._tape.modes import no_grad
from funcgrad._tensor.interop import from_host
from funcgrad._tensor.names import flush, rebind, record
from funcgrad._tensor.tensor import Tensor
from funcgrad.optim.lr_scheduler.scheduler import LRScheduler, Rate, per_group
from funcgrad.optim.optimizer import Optimizer
from funcgrad.optim.rule import number

Tensors = Sequence[Tensor]
AverageOne = Callable[[Any, Any, Any], Any]
AverageAll = Callable[[Tensors, Tensors, Any], None]


def _averaged(arrays: Arrays, weight: Operand | None, count: Operand | None) -> tuple[Array, ...]:
    """old + weight * (new - old); without a weight it is 1 / (count + 1), and the first of them is taken as it is."""
    half = len(arrays) // 2
    if count is not None:
        count = jnp.asarray(count, np.float64)
    share = number(weight if count is None else 1 / (count + 1))

    def mixed(old: Array, new: Array) -> Array:
        if jnp.issubdtype(old.dtype, np.inexact):
            moved = (old + share * (new - old)).astype(old.dtype)
        else:  # counts, as torch's numbers beside whole ones: in single precision, and then cut off
            part = jnp.asarray(share, np.float32)
            moved = (old * (1 - part) + new * part).astype(old.dtype)
        return moved if count is None else jnp.where(count == 0, new.astype(old.dtype), moved)

    return tuple(map(mixed, arrays[:half], arrays[half:]))


_AVERAGED = Op(_averaged)


def get_ema_multi_avg_fn(decay: float = 0.999) -> AverageAll:
    """Return a function (averages, parameters, count) that moves each average by 1 - decay towards its parameter."""
    _check(decay)

    def ema_update(averages: Tensors, params: Tensors, _: Any) -> None:
        rebind(averages, record(_AVERAGED, [*averages, *params, 1 - decay, None]))

    return ema_update


def get_swa_multi_avg_fn() -> AverageAll:
    """Return a function (averages, parameters, count) that makes each average the mean of count + 1 parameters."""

    def swa_update(averages: Tensors, params: Tensors, count: Any) -> None:
        rebind(averages, record(_AVERAGED, [*averages, *params, None, count]))

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> AverageOne:
    """Return decay * average + (1 - decay) * parameter as a function of one of each."""
    _check(decay)

    @no_grad()
    def ema_update(average: Any, param: Any, count: Any) -> Any:
        return decay * average + (1 - decay) * param

    return ema_update


def get_swa_avg_fn() -> AverageOne:
    """Return average + (parameter - average) / (count + 1) as a function of one of each."""

    @no_grad()
    def swa_update(average: Any, param: Any, count: Any) -> Any:
        return average + (param - average) / (count + 1)

    return swa_update


def _check(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


class AveragedModel:
    """A copy of a model whose parameters are averages of those that the model has had; a module like the model.

    avg_fn(average, parameter, count) gives the new average; multi_avg_fn changes a list of averages in place. Without
    either: their equal mean. use_buffers: buffers are averaged too, else copied. Source: Izmailov et al. 2018,
    https://arxiv.org/abs/1803.05407.
    """

    module: Any
    n_averaged: Any

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Return an object that is a module too, of the class the model has: this floor does not know nn by name."""
        model = next((x for x in (*args, *kwargs.values()) if hasattr(x, "register_buffer")), None)
        base = None if model is None else _module_class(type(model))
        return object.__new__(cls if base is None or issubclass(cls, base) else _both(cls, base))

    def __init__(
        self,
        model: Any,
        device: Any = None,
        avg_fn: AverageOne | None = None,
        multi_avg_fn: AverageAll | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        module = deepcopy(model)
        self.module = module if device is None else module.to(device)
        made: Any = self  # a module as well, see __new__
        made.register_buffer("n_averaged", from_host(np.zeros((), np.int64), device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the averaged model."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Any) -> None:
        """Take the model's present parameters into the averages. The first time they are copied."""
        names = (lambda m: chain(m.parameters(), m.buffers())) if self.use_buffers else (lambda m: m.parameters())
        averages = list(names(self.module))
        params = [_beside(new, old) for new, old in zip(names(model), averages, strict=True)]
        if self.avg_fn is None and self.multi_avg_fn is None:
            self._average(averages, params)
        elif self.n_averaged.item() == 0:
            rebind(averages, [param._current() for param in params])
        elif self.multi_avg_fn is not None:
            for old, new in _by_dtype(averages, params):
                self.multi_avg_fn(old, new, self.n_averaged)
        else:
            assert self.avg_fn is not None
            for old, new in zip(averages, params, strict=True):
                rebind([old], [self.avg_fn(old.detach(), new, self.n_averaged)._current()])
        if not self.use_buffers:
            buffers = list(self.module.buffers())
            copies = [_beside(new, old) for new, old in zip(model.buffers(), buffers, strict=True)]
            rebind(buffers, [copied._current() for copied in copies])
        with no_grad():
            self.n_averaged += 1
        # run apart, as an optimizer's step is: otherwise the next step would be another program than the first
        flush()

    def _average(self, averages: list[Tensor], params: list[Tensor]) -> None:
        # counts and flags among the buffers are no means: torch divides them too, with a truncated result
        get_swa_multi_avg_fn()(averages, params, self.n_averaged)


@cache
def _both(cls: type, base: type) -> type:
    def reduced(self: Any) -> tuple[Any, ...]:
        return _empty, (cls, base), self.__getstate__()

    names = {"__module__": cls.__module__, "__qualname__": cls.__qualname__}
    return type(cls.__name__, (cls, base), {**names, "__reduce__": reduced})


def _empty(cls: type, base: type) -> Any:
    """Return what pickling and copying fill: a file knows the classes, but not the one made of them."""
    return object.__new__(_both(cls, base))


def _module_class(kind: type) -> type | None:
    """Return the most general class of a model that can do all that a module does: nn's Module."""
    wanted = ("register_buffer", "register_forward_hook", "load_state_dict", "modules", "train")
    return next((one for one in reversed(kind.__mro__) if all(hasattr(one, name) for name in wanted)), None)


def _beside(tensor: Tensor, other: Tensor) -> Any:
    """Return the tensor's value in the dtype of another, and on its device."""
    detached: Any = tensor.detach()
    return detached.to(device=other.device, dtype=other.dtype)


def _by_dtype(averages: list[Tensor], params: list[Tensor]) -> Iterable[tuple[list[Tensor], list[Tensor]]]:
    """Yield the pairs in lists of one dtype each, as functions of torch's expect them."""
    for kind in dict.fromkeys(average.dtype for average in averages):
        chosen = [i for i, average in enumerate(averages) if average.dtype is kind]
        yield [averages[i] for i in chosen], [params[i] for i in chosen]


@no_grad()
def update_bn(loader: Iterable[Any], model: Any, device: Any = None) -> None:
    """Compute the running means of all batch norm layers anew, by one pass over the loader (inputs, or tuples)."""
    norms = [m for m in model.modules() if any(kind.__name__ == "_BatchNorm" for kind in type(m).__mro__)]
    if not norms:
        return
    momenta = [norm.momentum for norm in norms]
    was_training = model.training
    model.train()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None
    for batch in loader:
        inputs = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(inputs if device is None else inputs.to(device))
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From the present rate to swa_lr in `anneal_epochs` epochs, along a cosine or a line; then swa_lr."""

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        last_epoch: int = -1,
    ) -> None:
        for rate, group in zip(per_group("swa_lr", optimizer, swa_lr), optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """Return the rates for the present epoch."""
        self._warn_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            target = group["swa_lr"]
            start = target if before == 1 else (group["lr"] - before * target) / (1 - before)
            rates.append(target * now + start * (1 - now))
        return rates

    def _share(self, step: int) -> float:
        """Return how much of the way is done: 0 to 1."""
        done = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return done if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * done)) / 2
