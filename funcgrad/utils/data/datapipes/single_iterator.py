"""One iterator at a time for each pipe: a new one ends the one before, since both would read the pipe's buffers."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

_LIMIT = "single iterator per IterDataPipe constraint"
_FEEDBACK = (
    f"\nFor feedback regarding this {_LIMIT}, feel free to comment on this issue: "
    "https://github.com/pytorch/data/issues/45."
)


def with_one_iterator(cls: Any) -> None:
    """Let the iterators that a class of pipes makes ask, at each sample, whether they are still the pipe's newest."""
    written = cls.__dict__
    if "__iter__" not in written:
        return
    if inspect.isgeneratorfunction(written["__iter__"]):
        cls.__iter__ = _of_generator(written["__iter__"])
        return
    if "__next__" in written:
        cls.__next__ = _counting(written["__next__"])
    cls.__iter__ = _of_function(written["__iter__"], "__next__" in written)


def _of_generator(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def iterate(self: Any) -> Iterator[Any]:
        samples = function(self)
        number = _begin(self)
        try:
            for sample in samples:
                self._number_of_samples_yielded += 1
                yield sample
                _check(self, number)
        except Exception as error:
            _say_where(error, self)
            raise

    return iterate


def _counting(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def counted(self: Any) -> Any:
        sample = function(self)
        self._number_of_samples_yielded += 1
        return sample

    return counted


def _of_function(function: Callable[..., Any], has_next: bool) -> Callable[..., Any]:
    @functools.wraps(function)
    def iterate(self: Any) -> _Checking:
        samples = function(self)
        return _Checking(samples, self, _begin(self), counts=not (samples is self and has_next))

    return iterate


class _Checking:
    """An iterator that a pipe returned; all but its samples is that one's."""

    def __init__(self, iterator: Any, datapipe: Any, number: int, counts: bool) -> None:
        self.iterator, self.datapipe, self.iterator_id, self._counts = iterator, datapipe, number, counts

    def __iter__(self) -> _Checking:
        return self

    def __next__(self) -> Any:
        _check(self.datapipe, self.iterator_id)
        sample = next(self.iterator)
        if self._counts:
            self.datapipe._number_of_samples_yielded += 1
        return sample

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["iterator"], name)


def _begin(pipe: Any) -> int:
    """Make a new iterator the pipe's only one, and return its number. One of several branches sees to itself."""
    if getattr(pipe, "_is_child_datapipe", False):
        return pipe._set_main_datapipe_valid_iterator_id()
    pipe._valid_iterator_id = 0 if pipe._valid_iterator_id is None else pipe._valid_iterator_id + 1
    pipe._number_of_samples_yielded = 0
    pipe.reset()
    return pipe._valid_iterator_id


def _check(pipe: Any, number: int) -> None:
    if getattr(pipe, "_is_child_datapipe", False):
        if not pipe._check_valid_iterator_id(number):
            raise RuntimeError(
                "This iterator has been invalidated, because a new iterator has been created from one of the "
                f"ChildDataPipes of {described(pipe.main_datapipe)}.{_FEEDBACK}"
            )
    elif pipe._valid_iterator_id != number:
        raise RuntimeError(
            "This iterator has been invalidated because another iterator has been created from the same IterDataPipe: "
            f"{described(pipe)}\nThis may be caused by multiple references to the same IterDataPipe. We recommend "
            f"using `.fork()` if that is necessary.{_FEEDBACK}"
        )


def described(pipe: Any) -> str:
    """Return a pipe's class and the arguments that it was made of, as far as it keeps them."""
    names = sorted(name for name in inspect.signature(type(pipe)).parameters if hasattr(pipe, name))
    kept = ((name, getattr(pipe, name)) for name in names)
    shown = (f"{name}={x.__name__ if inspect.isfunction(x) else repr(x)}" for name, x in kept)
    return f"{type(pipe).__name__}({', '.join(shown)})"


def _say_where(error: Exception, pipe: Any) -> None:
    """Add to an exception which pipe it went through first."""
    told = f"\nThis exception is thrown by __iter__ of {described(pipe)}"
    text = error.args[0] if error.args and isinstance(error.args[0], str) else None
    if text is None:
        error.args = (told,)
    elif "thrown by __iter__ of" not in text and _LIMIT not in text:
        error.args = (text + told, *error.args[1:])
