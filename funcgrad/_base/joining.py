"""Joining: processes that are out of inputs go along with what the others do together, until all are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any, NamedTuple

from funcgrad._base.warning import warn
from funcgrad._base.world import world


class JoinHook:
    """What a process does that is out of inputs: `main_hook` for each step of the others, at last `post_hook`."""

    def main_hook(self) -> None:
        """Take part in what the others do together in a step."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """End, once all are out of inputs; `is_last_joiner`: this process was among the last."""


class _JoinConfig(NamedTuple):
    """How an object is joined: whether at all, whether all stop with the first, whether it is the one that tells."""

    enable: bool
    throw_on_early_termination: bool
    is_first_joinable: bool

    @staticmethod
    def construct_disabled_join_config() -> _JoinConfig:
        """Return what holds outside of `Join`."""
        return _JoinConfig(enable=False, throw_on_early_termination=False, is_first_joinable=False)


class Joinable(ABC):
    """What can be joined. A subclass calls this `__init__`, gives a hook, and tells `Join` before it communicates."""

    @abstractmethod
    def __init__(self) -> None:
        super().__init__()
        self._join_config = _JoinConfig.construct_disabled_join_config()

    @abstractmethod
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """Return what goes along with the others; kwargs: those that `Join` was given."""

    @property
    @abstractmethod
    def join_device(self) -> Any:
        """Where what is communicated lies."""

    @property
    @abstractmethod
    def join_process_group(self) -> Any:
        """The processes that are joined."""


class Told:
    """That a process goes on, told to all. going_on: how many do."""

    def __init__(self, going_on: int) -> None:
        self.going_on = going_on

    def wait(self, timeout: Any = None) -> bool:
        """Return True: all have heard it."""
        return True

    is_completed = wait


_SKEW = 1000  # steps that a process may be out of inputs before it warns


class Join:
    """Train with as many inputs as each process has: `with Join([model, optimizer]): ...`.

    throw_on_early_termination: RuntimeError in all processes once the first is out of inputs. ValueError: nothing to
    join, or objects of several process groups.
    """

    def __init__(
        self, joinables: list[Any], enable: bool = True, throw_on_early_termination: bool = False, **kwargs: Any
    ) -> None:
        if len(joinables) == 0:
            raise ValueError("The join context manager requires at least one joinable")
        self._hooks = [joinable.join_hook(**kwargs) for joinable in joinables]
        self._enable, self._throws = enable, throw_on_early_termination
        for joinable in joinables:
            joinable._join_config = _JoinConfig(enable, throw_on_early_termination, joinable is joinables[0])
        groups = [_group_of(joinable) for joinable in joinables]
        if any(group != groups[0] for group in groups):
            raise ValueError("Using join context manager with multiple process groups")
        self._group = groups[0]

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._enable or kind is not None:
            return
        steps = 0
        while sum(self._group.numbers(0)):
            if self._throws:
                self._group.numbers(1)
                raise RuntimeError(f"Rank {self._group.rank()} exhausted all inputs.")
            if steps > _SKEW:
                warn(
                    f"Detected uneven input skew of greater than {_SKEW}. This means that rank {self._group.rank()} "
                    f"has at least {_SKEW} fewer inputs than other currently-active ranks. This level of skew could "
                    "lead to performance degradation during training."
                )
            for hook in self._hooks:
                hook.main_hook()
            steps += 1
        for hook in self._hooks:
            hook.post_hook(steps == 0)

    @staticmethod
    def notify_join_context(joinable: Any) -> Told | None:
        """Tell the others that this process goes on; None where another object of the same `Join` does.

        RuntimeError where all stop with the first, and one is out of inputs. AssertionError: `Joinable.__init__` was
        not called.
        """
        if not hasattr(joinable, "_join_config"):
            raise AssertionError(f"Check that the {type(joinable)} constructor calls the ``Joinable`` constructor")
        config = joinable._join_config
        if not (config.is_first_joinable and config.enable):
            return None
        group = _group_of(joinable)
        told = Told(sum(group.numbers(1)))
        if config.throw_on_early_termination and sum(group.numbers(0)):
            raise RuntimeError("Detected at least one rank that exhausted inputs. Throwing across all ranks.")
        return told


def _group_of(joinable: Any) -> Any:
    """Return the processes that an object is joined over: all, where it names none."""
    group = joinable.join_process_group
    return world().group if group is None else group
