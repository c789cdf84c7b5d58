"""Parameters that several processes keep the same: the mean of their gradients ends a backward pass."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from funcgrad._base.world import world
from funcgrad._tape.modes import no_grad
from funcgrad._tensor.creation import zeros_like
from funcgrad._tensor.tensor import Tensor
from funcgrad.autograd.variable import Variable
from funcgrad.nn.gradient_buckets import FIRST_LIMIT, LIMIT, GradBucket, joined, planned, split


class Sharing(NamedTuple):
    """Which gradients are awaited, and how they are bucketed for hooks.

    needs_all: a backward pass ends with the mean once all parameters have a gradient; else whatever has one. is_steady:
    the order in which gradients came first is that of all passes. limits: bytes at which buckets are full.
    """

    needs_all: bool = False
    is_steady: bool = True
    limits: Sequence[float] = (FIRST_LIMIT, LIMIT)


class Shared:
    """Parameters, their gradients and buffers that the processes of a group (None: all) keep the same.

    count: how many processes there are. is_awaited: whether the next backward pass ends with the mean of gradients.
    divisor: what sums of gradients are divided by, if it is not the number of processes.
    """

    def __init__(
        self, parameters: Sequence[Tensor], buffers: Sequence[Tensor], group: Any = None, how: Sharing | None = None
    ) -> None:
        self.parameters, self.buffers, self.is_awaited = list(parameters), list(buffers), False
        self.group = world().group if group is None else group
        self.count: int = 1 if self.group is None else self.group.size()
        self.divisor: int | None = None
        self.hook: Callable[[GradBucket], Any] | None = None
        self._how = how or Sharing()
        self._is_queued = False
        self._arrived: dict[int, None] = {}  # which parameters have got a gradient, in the order in which they did
        self._order: list[int] | None = None  # that of the first backward pass, in rank 0
        self._learned = [parameter for parameter in self.parameters if parameter.requires_grad]
        if self.count > 1:
            self._listen()

    def __reduce__(self) -> tuple[Any, ...]:
        # a copy of the module averages its own gradients
        return Shared, (self.parameters, self.buffers, self.group, self._how)

    def _listen(self) -> None:
        for i, parameter in enumerate(self._learned):
            parameter.register_post_accumulate_grad_hook(functools.partial(self._note_gradient, i))

    def set_hook(self, hook: Callable[[GradBucket], Any]) -> None:
        """Let a function communicate the gradients of each bucket. RuntimeError: there is such a function."""
        if self.hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        self.hook = hook
        if self.count == 1:
            self._listen()

    def need_what_comes(self) -> None:
        """Let a backward pass end with the mean of the gradients that it gives, whichever these are."""
        self._how = self._how._replace(needs_all=False, is_steady=True)

    def take_state(self, place: int = 0) -> None:
        """Take over the parameters and buffers of a process."""
        if self.count > 1:
            self.group.take_over([*self.parameters, *self.buffers], place)

    def take_buffers(self, place: int = 0) -> None:
        """Take over the buffers of a process."""
        if self.count > 1 and self.buffers:
            self.group.take_over(self.buffers, place)

    def expect_forward(self) -> None:
        """RuntimeError where the backward pass before has left parameters without gradients that all need them."""
        if self._arrived and self._how.needs_all:
            missing = [i for i in range(len(self._learned)) if i not in self._arrived]
            raise RuntimeError(_UNFINISHED.format(self.group.rank(), " ".join(map(str, missing))))

    def await_gradients(self) -> None:
        """Let the next backward pass end with the mean, also where the one before it was broken off."""
        self.is_awaited, self._is_queued = True, False
        self._arrived.clear()

    def _note_gradient(self, i: int, _: Tensor) -> None:
        """Let the backward pass that runs end with the mean, once what is needed is there."""
        if not self.is_awaited:
            return
        self._arrived[i] = None
        if not self._is_queued and (not self._how.needs_all or len(self._arrived) == len(self._learned)):
            self._is_queued = True
            Variable._execution_engine.queue_callback(self._average)

    def _average(self) -> None:
        self._is_queued = self.is_awaited = False
        order = [*self._arrived]
        self._arrived.clear()
        if self.hook is None:
            self.group.average(self._learned, self.divisor)
        else:
            self._communicate([parameter.grad for parameter in self._learned], order)

    def shadow(self) -> None:
        """Take part in what ends the others' backward pass, with gradients of zero that nobody keeps."""
        if self.hook is None:
            self.group.average([], self.divisor)
        else:
            self._communicate(None, None)

    def _communicate(self, gradients: Sequence[Tensor | None] | None, order: list[int] | None) -> None:
        """Let the hook communicate all buckets, and write what it makes of them (None: gradients nobody keeps)."""
        assert self.hook is not None
        given = gradients or [None] * len(self._learned)
        own = [i for i, gradient in enumerate(given) if gradient is not None]
        used = range(len(given)) if self._how.needs_all else {i for told in self.group.told(own) for i in told}
        buckets = self._buckets(given)
        if self._order is None and self._how.is_steady:
            self._order = next(told for told in self.group.told(order) if told is not None)
        futures = [self.hook(bucket) for _, bucket in buckets]
        with no_grad():
            for (members, _), future in zip(buckets, futures, strict=True):
                parameters = [self._learned[i] for i in members]
                for i, parameter, found in zip(members, parameters, split(future.wait(), parameters), strict=True):
                    if gradients is not None and i in used:
                        parameter.grad = zeros_like(parameter) if parameter.grad is None else parameter.grad
                        parameter.grad.copy_(found)

    def _buckets(self, gradients: Sequence[Tensor | None]) -> list[tuple[list[int], GradBucket]]:
        """Return the buckets of gradients (None: zeros), each with the places of its parameters."""
        if self._order is None:
            limits = [math.inf] if self._how.is_steady else self._how.limits
            plan = sorted(planned(self._learned, range(len(self._learned)), limits), reverse=True)
        else:
            plan = planned(self._learned, self._order, self._how.limits)
        found = []
        for index, members in enumerate(plan):
            parameters = [self._learned[i] for i in members]
            parts = [zeros_like(self._learned[i]) if (own := gradients[i]) is None else own for i in members]
            found.append((members, GradBucket(index, index == len(plan) - 1, parameters, joined(parts))))
        return found


_UNFINISHED = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that "
    "your module has parameters that were not used in producing loss. You can enable unused parameter detection by "
    "passing the keyword argument `find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`, and by "
    "\nmaking sure all `forward` function outputs participate in calculating loss. \nIf you already have done the "
    "above, then the distributed data parallel module wasn't able to locate the output tensors in the return value of "
    "your module's `forward` function. Please include the loss function and the structure of the return value of "
    "`forward` of your module when reporting this issue (e.g. list, dict, iterable).\nParameter indices which did not "
    "receive grad for rank {}: {}\n In addition, you can set the environment variable TORCH_DISTRIBUTED_DEBUG to "
    "either INFO or DETAIL to print out information about which particular parameters did not receive gradient on this "
    "rank as part of this error"
)
