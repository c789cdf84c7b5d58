"""torch.futures: results that come later; here they come from threads, or are there already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent import futures
from typing import Any


class Future:
    """A result that somebody sets once."""

    def __init__(self, *, devices: Any = None) -> None:
        self._future: futures.Future[Any] = futures.Future()

    def __class_getitem__(cls, item: Any) -> Any:
        return cls

    def done(self) -> bool:
        """Tell whether the result is there."""
        return self._future.done()

    def wait(self) -> Any:
        """Wait for the result and return it, or raise what was set."""
        return self._future.result()

    value = wait

    def set_result(self, result: Any) -> None:
        """Set the result."""
        self._future.set_result(result)

    def set_exception(self, result: BaseException) -> None:
        """Set what `wait` raises."""
        self._future.set_exception(result)

    def add_done_callback(self, callback: Callable[[Future], Any]) -> None:
        """Call a function with this future once the result is there."""
        self._future.add_done_callback(lambda _: callback(self))

    def then(self, callback: Callable[[Future], Any]) -> Future:
        """Return the future of what a function makes of this one."""
        later = Future()

        def follow(done: Future) -> None:
            try:
                later.set_result(callback(done))
            except Exception as error:
                later.set_exception(error)

        self.add_done_callback(follow)
        return later


def collect_all(futures: Sequence[Future]) -> Future:
    """Return the future of all of these futures, once each is done."""
    together = Future()
    waiting = len(futures)

    def count(_: Future) -> None:
        nonlocal waiting
        waiting -= 1
        if waiting == 0:
            together.set_result(list(futures))

    if not futures:
        together.set_result([])
    for future in futures:
        future.add_done_callback(count)
    return together


def wait_all(futures: Sequence[Future]) -> list[Any]:
    """Wait for all results and return them."""
    return [future.wait() for future in futures]
