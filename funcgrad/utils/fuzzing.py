"""torch.utils.benchmark's fuzzing: sizes drawn at random, and tensors of them in all kinds of memory order, to time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.dtypes import dtype as DType
from funcgrad._tensor.strides import is_contiguous
from funcgrad._tensor.tensor import Tensor
from funcgrad.random.functions import rand, randint
from funcgrad.random.generator import manual_seed

__all__ = ["FuzzedParameter", "FuzzedTensor", "Fuzzer", "ParameterAlias"]

_TRIES = 1000  # draws for one set of parameters that all tensors accept


class FuzzedParameter:
    """A number drawn for each set of tensors.

    distribution: "uniform" or "loguniform" (the exponent is uniform), both with their ends, or values with their
    probabilities. strict: drawn once for a set, even where the others are drawn again.
    """

    def __init__(
        self, name: str, minval: float | None = None, maxval: float | None = None,
        distribution: str | dict[Any, float] | None = None, strict: bool = False,
    ) -> None:  # fmt: skip
        if not isinstance(distribution, dict):
            assert distribution in ("loguniform", "uniform"), f"Unknown distribution: {distribution}"
        else:
            assert min(distribution.values()) >= 0, "Probabilities cannot be negative"
            assert math.isclose(sum(distribution.values()), 1, abs_tol=1e-5), "Distribution is not normalized"
            assert minval is None, "When passing a custom distribution, 'minval' must be None"
            assert maxval is None, "When passing a custom distribution, 'maxval' must be None"
        self.name, self.strict = name, strict
        self._minval, self._maxval, self._distribution = minval, maxval, distribution

    def sample(self, state: np.random.RandomState) -> Any:
        """Draw a value."""
        if isinstance(self._distribution, dict):
            place = state.choice(np.arange(len(self._distribution)), p=tuple(self._distribution.values()))
            return list(self._distribution)[place]
        low, high = self._minval, self._maxval
        assert low is not None and high is not None, "a distribution by name needs minval and maxval"
        if self._distribution == "loguniform":
            return min(max(int(2 ** state.uniform(math.log2(low), math.log2(high))), low), high)
        if isinstance(low, int) and isinstance(high, int):
            return int(state.randint(low, high + 1))
        return state.uniform(low, high)


class ParameterAlias:
    """A value of a distribution: that of another parameter."""

    def __init__(self, alias_to: str) -> None:
        self.alias_to = alias_to

    def __repr__(self) -> str:
        return f"ParameterAlias[alias_to: {self.alias_to}]"


class FuzzedTensor:
    """A tensor whose size names parameters.

    steps: for each dimension, every how manyeth element of a larger tensor it has. probability_contiguous: how likely
    its dimensions lie in their own order. min_elements, max_elements, max_allocation_bytes: what it is drawn again
    for. dim_parameter: the parameter that says how many dimensions it has. tensor_constructor: called with `size`,
    `dtype` and the parameters.
    """

    def __init__(
        self, name: str, size: Sequence[str | int], steps: Sequence[str | int] | None = None,
        probability_contiguous: float = 0.5, min_elements: int | None = None, max_elements: int | None = None,
        max_allocation_bytes: int | None = None, dim_parameter: str | None = None, dtype: DType = dtypes.float32,
        cuda: bool = False, tensor_constructor: Callable[..., Tensor] | None = None,
    ) -> None:  # fmt: skip
        self.name = name
        self._size, self._steps, self._dim_parameter = tuple(size), tuple(steps or ()), dim_parameter
        self._probability_contiguous = probability_contiguous
        self._elements = (min_elements or 0, math.inf if max_elements is None else max_elements)
        self._most_bytes = math.inf if max_allocation_bytes is None else max_allocation_bytes
        self._dtype, self._cuda = dtype, cuda
        self._constructor = tensor_constructor or self.default_tensor_constructor

    @staticmethod
    def default_tensor_constructor(size: Sequence[int], dtype: DType, **parameters: Any) -> Tensor:
        """Return numbers between 0 and 1, or whole ones from 1 to 126."""
        made: Tensor = rand(size, dtype=dtype) if dtype.is_differentiable else randint(1, 127, size, dtype=dtype)
        return made

    def satisfies_constraints(self, params: dict[Any, Any]) -> bool:
        """Tell whether it would be as large as it may be."""
        size, steps = self._sizes(params)
        fewest, most = self._elements
        bytes_taken = math.prod(map(int, (*size, *steps))) * self._dtype.itemsize
        return fewest <= math.prod(map(int, size)) <= most and bytes_taken <= self._most_bytes

    def make(self, params: dict[Any, Any], state: np.random.RandomState) -> tuple[Tensor, dict[str, Any]]:
        """Return the tensor, and what one wants to know of it."""
        size, steps = self._sizes(params)
        lengths = tuple(length * step for length, step in zip(size, steps, strict=True))
        whole = self._constructor(size=lengths, dtype=self._dtype, **params)
        if self._cuda:
            whole = whole.cuda()
        own = order = np.arange(len(size))
        if state.rand() > self._probability_contiguous:
            while len(own) > 1 and np.all(order == own):
                order = state.permutation(len(own))
            whole = whole.permute(*order.tolist()).contiguous().permute(*np.argsort(order).tolist())
        tensor = whole[tuple(slice(0, length * step, step) for length, step in zip(size, steps, strict=True))]
        about = {"numel": tensor.numel(), "order": order, "steps": steps, "is_contiguous": is_contiguous(tensor)}
        return tensor, {**about, "dtype": str(self._dtype)}

    def _sizes(self, params: dict[Any, Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return its lengths, and its steps, of this set of parameters: 1 where nothing is said."""
        count = len(self._size) if self._dim_parameter is None else params[self._dim_parameter]
        size, steps = ([params.get(name, name) for name in names] + [1] * count for names in (self._size, self._steps))
        return tuple(size[:count]), tuple(steps[:count])


class Fuzzer:
    """Draws sets of parameters, and the tensors that they describe, from a seed; torch's generator starts from it too.

    constraints: functions of the parameters, a dict; a set of which one of them is not true is drawn again.
    """

    def __init__(
        self, parameters: Iterable[FuzzedParameter | Iterable[FuzzedParameter]],
        tensors: Iterable[FuzzedTensor | Iterable[FuzzedTensor]],
        constraints: Iterable[Callable[[dict[str, Any]], bool]] | None = None, seed: int | None = None,
    ) -> None:  # fmt: skip
        self._seed = np.random.RandomState().randint(0, 2**32 - 1, dtype=np.int64) if seed is None else seed
        self._parameters: list[FuzzedParameter] = _flat(parameters, FuzzedParameter)
        self._tensors: list[FuzzedTensor] = _flat(tensors, FuzzedTensor)
        self._constraints = tuple(constraints or ())
        twice = {each.name for each in self._parameters} & {each.name for each in self._tensors}
        if twice:
            raise ValueError(f"Duplicate names in parameters and tensors: {twice}")
        self._drawn = self._rejected = 0

    def take(self, n: int) -> Iterator[tuple[dict[str, Tensor], dict[str, Any], dict[str, Any]]]:
        """Yield `n` times the tensors, what one wants to know of each, and the parameters. Each call starts anew."""
        state = np.random.RandomState(self._seed)
        manual_seed(int(state.randint(0, 2**63, dtype=np.int64)))
        for _ in range(n):
            params = self._generate(state)
            made = {each.name: each.make(params, state) for each in self._tensors}
            about = {name: about for name, (_, about) in made.items()}
            yield {name: tensor for name, (tensor, _) in made.items()}, about, params

    @property
    def rejection_rate(self) -> float:
        """The share of sets that were drawn again."""
        return self._rejected / self._drawn if self._drawn else 0.0

    def _generate(self, state: np.random.RandomState) -> dict[str, Any]:
        """Draw until all are content. ValueError: they never are."""
        for params in islice(self._drawings(state), _TRIES):
            self._drawn += 1
            checks = chain(self._constraints, (tensor.satisfies_constraints for tensor in self._tensors))
            if all(check(params) for check in checks):
                return params
            self._rejected += 1
        raise ValueError("Failed to generate a set of valid parameters.")

    def _drawings(self, state: np.random.RandomState) -> Iterator[dict[str, Any]]:
        """Yield sets of parameters; those that are strict are drawn for the first alone."""
        kept: dict[str, Any] = {}
        while True:
            drawn = {p.name: kept[p.name] if p.name in kept else p.sample(state) for p in self._parameters}
            kept = {p.name: drawn[p.name] for p in self._parameters if p.strict}
            yield {name: _followed(value, drawn) for name, value in drawn.items()}


def _followed(value: Any, params: dict[str, Any]) -> Any:
    """Return what an alias stands for, however long the chain."""
    for _ in params:
        if not isinstance(value, ParameterAlias):
            return value
        value = params[value.alias_to]
    if isinstance(value, ParameterAlias):
        raise ValueError(f"ParameterAlias cycle detected\n{params}")
    return value


def _flat(values: Iterable[Any], kind: type) -> list[Any]:
    return list(chain.from_iterable([each] if isinstance(each, kind) else each for each in values))
