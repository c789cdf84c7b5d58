"""What processes were asked to do together, and have perhaps not done yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from funcgrad._tensor.tensor import Tensor
from funcgrad.futures import Future


class Awaited(Future):
    """A future whose result is computed when it is asked for."""

    def __init__(self, compute: Callable[[], Any]) -> None:
        super().__init__()
        self._compute: Callable[[], Any] | None = compute

    def _settle(self) -> None:
        compute, self._compute = self._compute, None
        if compute is None:
            return
        try:
            found = compute()
        except Exception as error:
            self.set_exception(error)
        else:
            self.set_result(found)

    def done(self) -> bool:
        """Compute the result; returns True."""
        self._settle()
        return super().done()

    def wait(self) -> Any:
        """Compute the result and return it, or raise what went wrong."""
        self._settle()
        return super().wait()

    value = wait

    def add_done_callback(self, callback: Callable[[Future], Any]) -> None:
        """Compute the result, then call a function with this future."""
        self._settle()
        super().add_done_callback(callback)

    def then(self, callback: Callable[[Future], Any]) -> Future:
        """Return the future of what a function makes of this one, computed when it is asked for."""

        def follow() -> Any:
            self._settle()
            return callback(self)

        return Awaited(follow)


Awaited.__name__ = Awaited.__qualname__ = "Future"  # what it is to whoever prints it


class Work:
    """Something that the processes do together, and that was asked for: it is done when it is waited for."""

    def __init__(
        self, finish: Callable[[], Any] | None = None, source: Callable[[], int] | None = None,
        results: Sequence[Tensor] = (),
    ) -> None:  # fmt: skip
        self._finish, self._source, self._results = finish, source, list(results)

    def wait(self, timeout: Any = None) -> bool:
        """Do what is left to do; returns True."""
        finish, self._finish = self._finish, None
        if finish is not None:
            finish()
        return True

    is_completed = is_success = wait

    def result(self) -> list[Tensor]:
        """Do what is left to do; return the tensors that it wrote to."""
        self.wait()
        return self._results

    def exception(self) -> None:
        """Return None: what goes wrong is raised by `wait`."""
        self.wait()

    def get_future(self) -> Future:
        """Return the future of `result`."""
        return Awaited(self.result)

    def source_rank(self) -> int:
        """Return whose message came. RuntimeError: it is none that was received."""
        if self._source is None:
            raise RuntimeError("sourceRank() may only be called on work objects that correspond to a recv")
        return self._source()


def ended(finish: Callable[[], Any], async_op: bool, results: Sequence[Tensor] = ()) -> Work | None:
    """Return what is to be waited for, or do it now. results: the tensors that are written to."""
    if async_op:
        return Work(finish, results=results)
    finish()
    return None
