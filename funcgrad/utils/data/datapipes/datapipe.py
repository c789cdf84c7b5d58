"""What every pipe is given: the others as its methods (`pipe.map(f).batch(8)`), and one iterator at a time."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any, ClassVar, Self, TypeVar

from funcgrad.utils.data.datapipes.single_iterator import with_one_iterator
from funcgrad.utils.data.dataset import Dataset, IterableDataset

__all__ = ["DataChunk", "IterDataPipe", "MapDataPipe"]
Sample = TypeVar("Sample", covariant=True)
Item = TypeVar("Item")


class DataChunk(list[Item]):
    """A batch as a pipe makes it: a list, whose subclass may iterate otherwise than over its `items`."""

    def __init__(self, items: Iterable[Item]) -> None:
        items = list(items)
        super().__init__(items)
        self.items = items

    def as_str(self, indent: str = "") -> str:
        """Return the items in brackets, each by its `str`."""
        return f"{indent}[{', '.join(map(str, self))}]"

    def __iter__(self) -> Iterator[Item]:
        yield from super().__iter__()

    def raw_iterator(self) -> Iterator[Item]:
        """Iterate over the items that this was made of."""
        yield from self.items


class _Pipe:
    """The methods of all kinds of pipes: what `functional_datapipe` has entered is one of each pipe of the kind."""

    functions: ClassVar[dict[str, Callable[..., Any]]]
    reduce_ex_hook: ClassVar[Callable[..., Any] | None] = None
    getstate_hook: ClassVar[Callable[..., Any] | None] = None

    def __getattr__(self, attribute_name: str) -> Any:
        function = type(self).functions.get(attribute_name)
        if function is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{attribute_name}")
        method = functools.partial(function, self)
        functools.update_wrapper(method, function, assigned=("__doc__",))
        return method

    @classmethod
    def register_function(cls, function_name: str, function: Callable[..., Any]) -> None:
        """Make function(pipe, ...) a method of all pipes of this kind, in the place of one of the same name."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(
        cls, function_name: str, cls_to_register: Callable[..., Any], enable_df_api_tracing: bool = False
    ) -> None:
        """Make a class of pipes a method of all pipes of this kind. An Exception where the name is taken."""
        if function_name in cls.functions:
            raise Exception(f"Unable to add DataPipe function name {function_name} as it is already taken")

        @functools.wraps(cls_to_register, assigned=("__doc__",), updated=())
        def made(source_dp: Any, *args: Any, **kwargs: Any) -> Any:
            return cls_to_register(source_dp, *args, **kwargs)

        cls.functions[function_name] = made

    @classmethod
    def set_getstate_hook(cls, hook_fn: Callable[..., Any] | None) -> None:
        """Let hook_fn(state) say what is pickled of a pipe; None: all. RuntimeError while another does."""
        if cls.getstate_hook is not None and hook_fn is not None:
            raise RuntimeError("Attempt to override existing getstate_hook")
        cls.getstate_hook = hook_fn

    @classmethod
    def set_reduce_ex_hook(cls, hook_fn: Callable[..., Any] | None) -> None:
        """Let hook_fn(pipe) pickle pipes, unless it raises NotImplementedError. RuntimeError while another does."""
        if cls.reduce_ex_hook is not None and hook_fn is not None:
            raise RuntimeError("Attempt to override existing reduce_ex_hook")
        cls.reduce_ex_hook = hook_fn

    def __getstate__(self) -> Any:
        return state_of(self, self.__dict__)

    def __reduce_ex__(self, protocol: Any) -> Any:
        hook = type(self).reduce_ex_hook
        if hook is not None:
            try:
                return hook(self)
            except NotImplementedError:
                pass  # as the hook says: this one as any object
        return super().__reduce_ex__(protocol)

    def __repr__(self) -> str:
        return type(self).__qualname__

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.functions]


def state_of(pipe: _Pipe, state: Any) -> Any:
    """Return what is pickled of a pipe that would have `state` pickled."""
    hook = type(pipe).getstate_hook
    return state if hook is None else hook(state)


class IterDataPipe(_Pipe, IterableDataset[Sample]):
    """A stream of samples, put together of others by methods: `pipe.shuffle().batch(8)`.

    A subclass writes `__iter__`, and `reset` if it keeps something from one pass to the next: it is called before each.
    A new iterator ends the one before. In a DataLoader `shuffle` turns shufflers on and off; each worker has a copy,
    and `sharding_filter` leaves it its part.

    >>> from funcgrad.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper([1, 2, 3]).map(lambda x: x * x))
    [1, 4, 9]
    """

    functions: ClassVar[dict[str, Callable[..., Any]]] = {}
    _valid_iterator_id: int | None = None
    _number_of_samples_yielded = 0

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        with_one_iterator(cls)

    def __iter__(self) -> Any:
        return self

    def reset(self) -> None:
        """Begin anew, before each pass: a subclass that has buffers empties them."""


with_one_iterator(IterDataPipe)


class MapDataPipe(_Pipe, Dataset[Sample]):
    """A map from an index to a sample, put together of others by methods: `pipe.map(f).zip(other)`.

    A subclass writes `__getitem__`, and `__len__` if it is to be sampled.

    >>> from funcgrad.utils.data.datapipes.map import SequenceWrapper
    >>> SequenceWrapper(["a", "b"]).map(str.upper)[1]
    'B'
    """

    functions: ClassVar[dict[str, Callable[..., Any]]] = {}


class Chained(IterDataPipe[Any]):
    """A pipe of the samples of one other: it is as long as that, if that has a length."""

    datapipe: Any

    def __init__(self, datapipe: Any) -> None:
        self.datapipe = datapipe

    def __len__(self) -> int:
        return length_of(self, self.datapipe)


def length_of(pipe: Any, *sources: Any) -> int:
    """Return the length of all sources together. TypeError where one has none."""
    if all(isinstance(source, Sized) for source in sources):
        return sum(map(len, sources))
    raise TypeError(f"{type(pipe).__name__} instance doesn't have valid length")


class _IterDataPipeSerializationWrapper(IterDataPipe[Any]):
    """What a DataLoader holds in the place of a stream that is a pipe, under torch's name, which warnings tell."""

    def __init__(self, datapipe: Any) -> None:
        self._datapipe = datapipe
        self._datapipe_iter: Any = None

    def __iter__(self) -> Any:
        self._datapipe_iter = iter(self._datapipe)
        return self

    def __next__(self) -> Any:
        return next(self._datapipe_iter)

    def __len__(self) -> int:
        return _length_behind(self, self._datapipe)


class _MapDataPipeSerializationWrapper(MapDataPipe[Any]):
    """What a DataLoader holds in the place of a map that is a pipe."""

    def __init__(self, datapipe: Any) -> None:
        self._datapipe = datapipe

    def __getitem__(self, index: Any) -> Any:
        return self._datapipe[index]

    def __len__(self) -> int:
        return _length_behind(self, self._datapipe)


def _length_behind(wrapper: Any, pipe: Any) -> int:
    try:
        return len(pipe)
    except Exception as error:
        raise TypeError(f"{type(wrapper).__name__} instance doesn't have valid length") from error


def held_by_loader(dataset: Any) -> Any:
    """Return what a DataLoader holds in the place of a dataset."""
    if isinstance(dataset, IterDataPipe):
        return _IterDataPipeSerializationWrapper(dataset)
    return _MapDataPipeSerializationWrapper(dataset) if isinstance(dataset, MapDataPipe) else dataset


class functional_datapipe:  # noqa: N801 - torch's name
    """Enter a class of pipes as a method of all: `@functional_datapipe("batch")` makes it `pipe.batch(...)`."""

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        self.name, self.enable_df_api_tracing = name, enable_df_api_tracing

    def __call__(self, cls: Any) -> Any:
        """Enter the class and return it."""
        for kind in (IterDataPipe, MapDataPipe):
            if issubclass(cls, kind):
                kind.register_datapipe_as_function(self.name, cls)
                break
        return cls


class _Determinism:
    """Whether pipes that do not give the same samples each time are refused."""

    is_guaranteed = False


class guaranteed_datapipes_determinism:  # noqa: N801 - torch's name
    """From where it is made to the end of its `with`, pipes that are `non_deterministic` are refused."""

    def __init__(self) -> None:
        self.prev, _Determinism.is_guaranteed = _Determinism.is_guaranteed, True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        _Determinism.is_guaranteed = self.prev


class non_deterministic:  # noqa: N801 - torch's name
    """Say that a class of streams has other samples in each pass; a function of its arguments may say whether."""

    cls: type | None = None

    def __init__(self, arg: type | Callable[..., bool]) -> None:
        if isinstance(arg, type):
            if not issubclass(arg, IterDataPipe):
                raise TypeError(
                    f"Only `IterDataPipe` can be decorated with `non_deterministic`, but {arg.__name__} is found"
                )
            self.cls = arg
        elif callable(arg):
            self.deterministic_fn = arg
        else:
            raise TypeError(f"{arg} can not be decorated by non_deterministic")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return a pipe of the class, or, once, what makes such pipes."""
        if self.cls is not None:
            if _Determinism.is_guaranteed:
                raise TypeError(
                    f"{self.cls.__name__} is non-deterministic, but you set 'guaranteed_datapipes_determinism'. "
                    "You can turn off determinism for this DataPipe if that is acceptable for your application"
                )
            return self.cls(*args, **kwargs)
        if not (isinstance(args[0], type) and issubclass(args[0], IterDataPipe)):
            raise TypeError(f"Only `IterDataPipe` can be decorated, but {args[0]} is found")
        self.cls = args[0]
        return self._deterministic

    def _deterministic(self, *args: Any, **kwargs: Any) -> Any:
        assert self.cls is not None
        result = self.deterministic_fn(*args, **kwargs)
        if not isinstance(result, bool):
            raise TypeError(
                "deterministic_fn of `non_deterministic` decorator is required to return a boolean value, "
                f"but {type(result)} is found"
            )
        if _Determinism.is_guaranteed and result:
            raise TypeError(
                f"{self.cls.__name__} is non-deterministic with the inputs, but you set "
                "'guaranteed_datapipes_determinism'. You can turn off determinism for this DataPipe if that is "
                "acceptable for your application"
            )
        return self.cls(*args, **kwargs)
