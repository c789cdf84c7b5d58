"""Streams that part: several that each give all samples of one, or each those that a function sends to it."""

from __future__ import annotations

import copy as copying
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Literal

from funcgrad._base.warning import warn
from funcgrad.utils.data.datapipes.datapipe import IterDataPipe, functional_datapipe, state_of
from funcgrad.utils.data.datapipes.files import StreamWrapper
from funcgrad.utils.data.datapipes.functions import check_function

__all__ = ["DemultiplexerIterDataPipe", "ForkerIterDataPipe"]


def _same(sample: Any) -> Any:
    return sample


_COPIES: dict[str | None, Callable[[Any], Any]] = {None: _same, "shallow": copying.copy, "deep": copying.deepcopy}


class _Parting(IterDataPipe[Any]):
    """What the branches of one stream share: its iterator, and what some of them have still to read.

    A subclass writes `_taken`, which says a branch's next sample, and `reset`.
    """

    def __init__(self, main_datapipe: Any, num_instances: int, buffer_size: int, name: str) -> None:
        self.main_datapipe, self.num_instances, self.buffer_size = main_datapipe, num_instances, buffer_size
        if buffer_size < 0:
            warn(f"Unlimited buffer size is set for `{name}`, please be aware of OOM at random places")
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._datapipe_iterator: Iterator[Any] | None = None
        self._child_stop = [True] * self.num_instances
        self._empty()

    def reset(self) -> None:
        """Begin anew, with all branches."""
        self._begin_anew()

    @abstractmethod
    def _empty(self) -> None: ...

    @abstractmethod
    def _taken(self, instance_id: int) -> Any:
        """Return a branch's next sample. StopIteration at the end."""

    @abstractmethod
    def _left(self, instance_id: int) -> None:
        """Drop what a branch that has ended will not read."""

    @abstractmethod
    def is_every_instance_exhausted(self) -> bool:
        """Tell whether all branches have read to the end."""

    @abstractmethod
    def get_length_by_instance(self, instance_id: int) -> int:
        """Return the length of a branch. TypeError where nobody knows it."""

    def get_next_element_by_instance(self, instance_id: int) -> Iterator[Any]:
        """Iterate over the samples of one branch."""
        if self._datapipe_iterator is None and self._child_stop[instance_id]:
            self._datapipe_iterator = iter(self.main_datapipe)
            self._child_stop = [False] * self.num_instances
        try:
            while not self._child_stop[instance_id]:
                try:
                    sample = self._taken(instance_id)
                except StopIteration:
                    self._child_stop[instance_id] = True
                else:
                    yield sample
        finally:
            self._child_stop[instance_id] = True
            if all(self._child_stop):
                self._datapipe_iterator = None
            self._left(instance_id)

    def _next_of_main(self) -> Any:
        if self._datapipe_iterator is None:
            raise StopIteration
        try:
            return next(self._datapipe_iterator)
        except StopIteration:
            self._datapipe_iterator = None
            raise


@functional_datapipe("fork")
class ForkerIterDataPipe(IterDataPipe[Any]):
    """A list of streams that each give all samples of this one; of one instance, the stream itself.

    buffer_size: by how much one may run ahead (-1: without limit), or it is a BufferError. copy: whether each is given
    a copy of its own of a sample, "shallow" or "deep".
    """

    def __new__(
        cls, datapipe: Any, num_instances: int, buffer_size: int = 1000, copy: Literal["shallow", "deep"] | None = None
    ) -> Any:
        """Return the streams. ValueError for fewer than one."""
        _check_instances(num_instances)
        if num_instances == 1:
            return datapipe
        shared = _ForkerIterDataPipe(datapipe, num_instances, buffer_size, copy)
        return [_ChildDataPipe(shared, i) for i in range(num_instances)]


def _check_instances(num_instances: int) -> None:
    if num_instances < 1:
        raise ValueError(f"Expected `num_instances` larger than 0, but {num_instances} is found")


class _ForkerIterDataPipe(_Parting):
    """The samples that the slowest branch has still to read, and how far each is."""

    def __init__(self, datapipe: Any, num_instances: int, buffer_size: int, copy: str | None) -> None:
        if copy not in _COPIES:
            raise ValueError(f"Unknown copy method `{copy}` requested, choose one of None, `shallow` or `deep`.")
        self.copy_fn = _COPIES[copy]
        super().__init__(datapipe, num_instances, buffer_size, "fork")

    def _empty(self) -> None:
        self.buffer: deque[Any] = deque()
        self.child_pointers = [0] * self.num_instances  # how many samples each has read
        self.slowest_ptr = self.leading_ptr = 0
        self.end_ptr: int | None = None  # how many there are, once that is known

    def __len__(self) -> int:
        return len(self.main_datapipe)

    def _taken(self, instance_id: int) -> Any:
        read = self.child_pointers[instance_id]
        if read == self.end_ptr:
            raise StopIteration
        if read == self.leading_ptr:
            try:
                self.buffer.append(self._next_of_main())
            except StopIteration:
                self.end_ptr = read
                raise
            self.leading_ptr += 1
        sample = self.buffer[read - self.slowest_ptr]
        self.child_pointers[instance_id] = read + 1
        if read == self.slowest_ptr and min(self.child_pointers) > read:
            self.slowest_ptr += 1
            self.buffer.popleft()
        if 0 <= self.buffer_size < self.leading_ptr - self.slowest_ptr:
            raise BufferError(f"ForkerIterDataPipe buffer overflow,buffer size {self.buffer_size} is insufficient.")
        return self.copy_fn(sample)

    def _left(self, instance_id: int) -> None:
        if all(self._child_stop):
            _close_all(self.buffer)

    def is_every_instance_exhausted(self) -> bool:
        """Tell whether all branches have read to the end."""
        return self.end_ptr is not None and all(self._child_stop)

    def get_length_by_instance(self, instance_id: int) -> int:
        """Return the length of the stream, which is that of each branch."""
        return len(self)

    def __getstate__(self) -> Any:
        state = (
            self.main_datapipe, self.num_instances, self.buffer_size, self.copy_fn, self._valid_iterator_id,
            self._number_of_samples_yielded,
        )  # fmt: skip
        return state_of(self, state)

    def __setstate__(self, state: Any) -> None:
        (
            self.main_datapipe, self.num_instances, self.buffer_size, self.copy_fn, self._valid_iterator_id,
            self._number_of_samples_yielded,
        ) = state  # fmt: skip
        self._begin_anew()


@functional_datapipe("demux")
class DemultiplexerIterDataPipe(IterDataPipe[Any]):
    """A list of streams: `classifier_fn` says the number of the one that a sample goes to.

    drop_none: leave out the samples of which it says None. buffer_size: how many samples may wait to be read (-1:
    without limit), or it is a BufferError.
    """

    def __new__(
        cls, datapipe: Any, num_instances: int, classifier_fn: Callable[[Any], int | None], drop_none: bool = False,
        buffer_size: int = 1000,
    ) -> Any:  # fmt: skip
        """Return the streams. ValueError for fewer than one."""
        _check_instances(num_instances)
        check_function(classifier_fn)
        shared = _DemultiplexerIterDataPipe(datapipe, num_instances, classifier_fn, drop_none, buffer_size)
        return [_ChildDataPipe(shared, i) for i in range(num_instances)]


class _DemultiplexerIterDataPipe(_Parting):
    """The samples that wait for each branch."""

    def __init__(
        self, datapipe: Any, num_instances: int, classifier_fn: Callable[[Any], int | None], drop_none: bool,
        buffer_size: int,
    ) -> None:  # fmt: skip
        self.classifier_fn, self.drop_none = classifier_fn, drop_none
        super().__init__(datapipe, num_instances, buffer_size, "demux")

    def _empty(self) -> None:
        self.child_buffers: list[deque[Any]] = [deque() for _ in range(self.num_instances)]
        self.current_buffer_usage = 0
        self.main_datapipe_exhausted = False

    def _taken(self, instance_id: int) -> Any:
        if self.child_buffers[instance_id]:
            self.current_buffer_usage -= 1
            return self.child_buffers[instance_id].popleft()
        while True:
            try:
                sample = self._next_of_main()
            except StopIteration:
                self.main_datapipe_exhausted = True
                raise
            branch = self.classifier_fn(sample)
            if branch is None and self.drop_none:
                StreamWrapper.close_streams(sample)
                continue
            if branch is None or not 0 <= branch < self.num_instances:
                raise ValueError(
                    f"Output of the classification fn should be between 0 and {self.num_instances - 1}. "
                    f"{branch} is returned."
                )
            if branch == instance_id:
                return sample
            self.child_buffers[branch].append(sample)
            self.current_buffer_usage += 1
            if 0 <= self.buffer_size < self.current_buffer_usage:
                raise BufferError(
                    f"DemultiplexerIterDataPipe buffer overflow, buffer size {self.buffer_size} is insufficient."
                )

    def _left(self, instance_id: int) -> None:
        _close_all(self.child_buffers[instance_id])

    def is_every_instance_exhausted(self) -> bool:
        """Tell whether all branches have read to the end."""
        return self.main_datapipe_exhausted and all(self._child_stop)

    def get_length_by_instance(self, instance_id: int) -> int:
        """Refuse: how many samples go to a branch is known when all are read."""
        raise TypeError

    def __getstate__(self) -> Any:
        state = (
            self.main_datapipe, self.num_instances, self.buffer_size, self.classifier_fn, self.drop_none,
            self._valid_iterator_id, self._number_of_samples_yielded,
        )  # fmt: skip
        return state_of(self, state)

    def __setstate__(self, state: Any) -> None:
        (
            self.main_datapipe, self.num_instances, self.buffer_size, self.classifier_fn, self.drop_none,
            self._valid_iterator_id, self._number_of_samples_yielded,
        ) = state  # fmt: skip
        self._begin_anew()


def _close_all(samples: deque[Any]) -> None:
    while samples:
        StreamWrapper.close_streams(samples.popleft())


class _ChildDataPipe(IterDataPipe[Any]):
    """One branch. A new iterator of a branch that has one ends those of all, and the stream begins anew."""

    _is_child_datapipe = True

    def __init__(self, main_datapipe: _Parting, instance_id: int) -> None:
        self.main_datapipe, self.instance_id = main_datapipe, instance_id

    def __iter__(self) -> Iterator[Any]:
        return self.main_datapipe.get_next_element_by_instance(self.instance_id)

    def __len__(self) -> int:
        return self.main_datapipe.get_length_by_instance(self.instance_id)

    def _set_main_datapipe_valid_iterator_id(self) -> int:
        main = self.main_datapipe
        if main._valid_iterator_id is None:
            main._valid_iterator_id = 0
        elif main._valid_iterator_id == self._valid_iterator_id:
            main._valid_iterator_id += 1
            if not main.is_every_instance_exhausted():
                warn(
                    "Some child DataPipes are not exhausted when __iter__ is called. We are resetting the buffer and "
                    "each child DataPipe will read from the start again."
                )
            main.reset()
        self._valid_iterator_id = main._valid_iterator_id
        return self._valid_iterator_id

    def _check_valid_iterator_id(self, iterator_id: int) -> bool:
        return iterator_id == self._valid_iterator_id == self.main_datapipe._valid_iterator_id
