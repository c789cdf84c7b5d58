"""A small program as a function that calls numpy's, a line for each equation of its jaxpr."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.extend import core

from funcgrad._program.host import factors, moving, places, rules, spectra  # noqa: F401 - they enter their rules
from funcgrad._program.host.table import RULES, Array, Function, NotForHost
from funcgrad._program.host.windows import Convolution
from funcgrad._program.primitives import CALLS, REMADE, called, parts_of_scan

CALL, ELEMENT, PRODUCT = 1.5e-6, 0.5e-9, 0.05e-9  # seconds that numpy takes for an equation, and for each of these


class Limits(NamedTuple):
    """What numpy is given: how many equations, elements that they write or read all of, products that one adds up."""

    equations: int
    elements: int
    products: int


PROGRAM = Limits(96, 1 << 15, 1 << 20)  # beyond a hundred equations XLA's program is quicker
INSTRUCTION = Limits(1 << 12, 1 << 22, 1 << 25)  # some milliseconds: a hundred runs for what a compile of one costs
_DTYPES = frozenset(map(np.dtype, ("bool", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8")))
_LOOKING = (  # these do not read all that they are given
    "dynamic_slice", "dynamic_update_slice", "gather", "reshape", "rev", "slice", "split", "squeeze", "transpose",
    "unstack",
)  # fmt: skip
# Of these numpy never warns, whatever they are given; of others it does, where they give infinities and NaN.
_QUIET = frozenset((
    "and", "argmax", "argmin", "broadcast_in_dim", "concatenate", "copy", "dynamic_slice", "dynamic_update_slice", "eq",
    "gather", "ge", "gt", "iota", "le", "lt", "max", "min", "ne", "neg", "not", "or", "pad", "reduce_and", "reduce_max",
    "reduce_min", "reduce_or", "reshape", "rev", "select_n", "slice", "sort", "split", "squeeze", "stack", "tile",
    "transpose", "unstack", "xor",
))  # fmt: skip


class OnHost:
    """Called as an executable is: (given leaves, kept leaves, numbers ...) -> results, numpy arrays of their own.

    computed: a function of the inputs, in Python, with a line for each equation. Results may be views of each other and
    of the inputs, or numbers; the caller sees to it that numpy does not warn of infinities. seconds: that a run takes,
    by estimate. warns: whether numpy may warn of infinities and NaN in `computed`. is_of_any_size: whether it does the
    same to arrays of other sizes, none of which is 0, as long as no number in it was made of a size. makes_all: whether
    no result of `computed` was known before, and is the same array each time.
    """

    def __init__(self, traced: Any, limits: Limits = PROGRAM) -> None:
        found = _Found(traced, limits)
        self.computed: Callable[[Sequence[Any]], list[Any]] = found.written()
        self.calls, self.elements, self.products = found.calls, found.elements, found.products
        self.seconds = CALL * found.calls + ELEMENT * found.elements + PRODUCT * found.products
        self.warns, self.is_of_any_size = found.warns, found.is_of_any_size()
        self._fixed = [found.fixed[place] for place in found.wanted if place in found.fixed]
        self.makes_all = not self._fixed

    def __call__(self, given: Sequence[Any], kept: Sequence[Any], *numbers: Any) -> list[Array]:
        """Run the program."""
        inputs = [*given, *kept, *numbers]
        if not self.warns:
            return own(self.computed(inputs), [*inputs, *self._fixed])
        with np.errstate(all="ignore"):
            return own(self.computed(inputs), [*inputs, *self._fixed])


def own(results: Sequence[Any], lent: Sequence[Any]) -> list[Any]:
    """Return results as arrays that nobody else has, their elements in order. lent: what somebody has. XLA's stay."""
    seen = set(map(id, lent))
    found = []
    for result in results:
        array = result
        if type(result) is np.ndarray or not isinstance(result, jax.Array):
            array = np.asarray(result)
            if id(array) in seen or array.base is not None or not array.flags.c_contiguous:
                array = array.copy()
            seen.add(id(array))
        found.append(array)
    return found


class _Found:
    """What a jaxpr computes: functions, the places that each reads and writes; what is known before (`fixed`)."""

    def __init__(self, traced: Any, limits: Limits) -> None:
        jaxpr = traced.jaxpr
        self._limits = limits
        self.inputs = self.places = len(jaxpr.invars)
        self.turns: list[tuple[Function, list[int], list[int]]] = []
        self.fixed: dict[int, Any] = {}
        # Where what a place repeats along axes stands once, and in which shape.
        self.unspread: dict[int, tuple[int, tuple[int, ...]]] = {}
        self.calls = self.elements = self.products = 0
        self.warns = False
        self._sized: set[int] = set()  # what is written by equations in which sizes stand
        for variable in jaxpr.invars:
            _refuse_dtype(variable.aval)
        self.wanted = self._run(jaxpr, traced.consts, range(self.inputs))
        self._let_go_of_unread()

    def written(self) -> Callable[[Sequence[Any]], list[Any]]:
        """Return the function of Python that does it: a line for each equation, a name for each place."""
        seen = {place for _, read, _ in self.turns for place in read} | set(self.wanted)
        scope: dict[str, Any] = {f"x{place}": self.fixed[place] for place in seen & set(self.fixed)}
        lines = [f"def computed(inputs):\n [{_names(range(self.inputs))}] = map(asarray, inputs)"]
        for i, (function, read, written) in enumerate(self.turns):
            scope[f"f{i}"] = function
            lines.append(f" {_names(written)} = f{i}({_names(read)})")
        lines.append(f" return [{_names(self.wanted)}]")
        scope["asarray"] = np.asarray
        exec("\n".join(lines), scope)
        return scope.pop("computed")

    def is_of_any_size(self) -> bool:
        """Tell whether no size stands in what is done."""
        read = {place for _, inputs, _ in self.turns for place in inputs}
        written = {place for _, _, outputs in self.turns for place in outputs}
        fixed = (read | set(self.wanted)) & set(self.fixed)
        return self._sized.isdisjoint(written) and not any(self.fixed[place].ndim for place in fixed)

    def _run(self, jaxpr: Any, constants: Sequence[Any], inputs: Sequence[int]) -> list[int]:
        """Enter the equations of a jaxpr; return where its results are."""
        known: dict[Any, int] = dict(zip(jaxpr.invars, inputs, strict=True))
        known.update((variable, self._constant(x)) for variable, x in zip(jaxpr.constvars, constants, strict=True))
        for equation in jaxpr.eqns:
            if not equation.outvars:  # a loop of which nothing is wanted
                continue
            read = [self._place(x, known) for x in equation.invars]
            name = equation.primitive.name
            if name in CALLS + REMADE:
                written = self._run(*called(equation), read)
            elif name == "custom_linear_solve":
                written = self._run(*_solved(equation, read))
            elif name == "cond" and read[0] in self.fixed:
                chosen = _branch(equation.params["branches"], self.fixed[read[0]])
                written = self._run(chosen.jaxpr, chosen.consts, read[1:])
            else:
                written = self._entered(equation, read)
            known.update(zip(equation.outvars, written, strict=True))
        return [self._place(x, known) for x in jaxpr.outvars]

    def _entered(self, equation: Any, read: list[int]) -> list[int]:
        inside = {"scan": self._scan, "cond": self._cond}.get(equation.primitive.name, self._function)
        function = inside(equation)
        written = [self._new_place() for _ in equation.outvars]
        if all(place in self.fixed for place in read):
            with np.errstate(all="ignore"):
                found = function(*[self.fixed[place] for place in read])
            self.fixed.update(zip(written, found if len(written) > 1 else [found], strict=True))
            self._keep_one_number(equation, function, read, written[0])
        else:
            if equation.primitive.name in rules.SPREADING:
                read = self._unspread(equation, read)
            self.turns.append((function, read, written))
            self.warns |= equation.primitive.name not in _QUIET
            if equation.primitive.name not in rules.OF_ANY_SIZE:
                self._sized.update(written)
            if equation.primitive.name == "broadcast_in_dim":
                once = self._new_place()
                self.unspread[written[0]] = once, tuple(moving.between(equation))
                self.turns.append((moving.unspread(equation), read, [once]))
            self.calls += 1
            if self.calls > self._limits.equations:
                raise NotForHost("many equations")
        return written

    def _unspread(self, equation: Any, read: list[int]) -> list[int]:
        """Return places from which numpy spreads elements itself, if together they are as large as the result."""
        operands = zip(equation.invars, read, strict=True)
        once = [self.unspread.get(place, (place, variable.aval.shape)) for variable, place in operands]
        if np.broadcast_shapes(*[shape for _, shape in once]) == equation.outvars[0].aval.shape:
            return [place for place, _ in once]
        return read

    def _keep_one_number(self, equation: Any, function: Function, read: list[int], written: int) -> None:
        """Keep one number of what is known before and the same everywhere: no size stands in that."""
        name = equation.primitive.name
        if name == "broadcast_in_dim" and not self.fixed[read[0]].ndim:
            self.unspread[written] = read[0], ()
        elif name in rules.SPREADING and self.fixed[written].ndim:
            once = [self.unspread.get(place, (place, self.fixed[place].shape)) for place in read]
            if not any(shape for _, shape in once):
                with np.errstate(all="ignore"):
                    number = function(*[self.fixed[place] for place, _ in once])
                self.unspread[written] = self._constant(number), ()

    def _function(self, equation: Any) -> Function:
        rule = RULES.get(equation.primitive.name)
        if rule is None:
            raise NotForHost(equation.primitive.name)
        self._refuse_much(equation)
        return rule(equation)

    def _scan(self, equation: Any) -> Function:
        """Run the body turn by turn; what it carries goes on, the rest is stacked."""
        (fixed, count), length = parts_of_scan(equation), equation.params["length"]
        before = fixed + count
        body = self._part(equation.params["jaxpr"], length)
        stacks = [variable.aval for variable in equation.outvars[count:]]
        turns = range(length)[:: -1 if equation.params["reverse"] else 1]

        def scanned(*arrays: Array) -> Any:
            carried: Sequence[Array] = arrays[before - count : before]
            results = [np.empty(aval.shape, aval.dtype) for aval in stacks]
            for turn in turns:
                found = body.computed([*arrays[: before - count], *carried, *[x[turn] for x in arrays[before:]]])
                carried = found[:count]
                for result, part in zip(results, found[count:], strict=True):
                    result[turn] = part
            return (*carried, *results) if len(equation.outvars) > 1 else [*carried, *results][0]

        return scanned

    def _cond(self, equation: Any) -> Function:
        """Run the branch that a number tells."""
        branches = [self._part(branch) for branch in equation.params["branches"]]

        def chosen(index: Any, *arrays: Array) -> Any:
            results = _branch(branches, index).computed(arrays)
            return results if len(results) > 1 else results[0]

        return chosen

    def _part(self, traced: Any, times: int = 1) -> OnHost:
        """Return a part that is run so often."""
        part = OnHost(traced, self._limits)
        self.calls += times * part.calls
        self.elements += times * part.elements
        self.products += times * part.products
        self._refuse_many()
        return part

    def _refuse_much(self, equation: Any) -> None:
        """Raise NotForHost where the program has become too much for numpy, or a dtype is not numpy's own."""
        for variable in equation.outvars:
            _refuse_dtype(variable.aval)
        spectra.refuse_complex(equation)
        sizes = [math.prod(x.aval.shape) for x in equation.outvars]
        if equation.primitive.name == "dot_general":
            (summed, _), _ = equation.params["dimension_numbers"]
            self._refuse_product(sizes[0] * math.prod(equation.invars[0].aval.shape[i] for i in summed))
        elif equation.primitive.name in factors.FACTORS:
            self._refuse_product(factors.products_of(equation))
        elif equation.primitive.name == "fft":
            self._refuse_product(spectra.products_of(equation))
        elif equation.primitive.name == "conv_general_dilated":
            windows = Convolution(equation)
            sizes.append(windows.rows)
            self._refuse_product(windows.products)
        elif equation.primitive.name not in _LOOKING:
            sizes = [max([sum(sizes), *[math.prod(x.aval.shape) for x in equation.invars]])]
        self.elements += sum(sizes)
        self._refuse_many()

    def _refuse_product(self, products: int) -> None:
        self.products += products
        if products > self._limits.products:
            raise NotForHost("a large product")

    def _refuse_many(self) -> None:
        if self.elements > self._limits.elements:
            raise NotForHost("many elements")

    def _let_go_of_unread(self) -> None:
        read, kept = set(self.wanted), []
        for turn in reversed(self.turns):
            _, inputs, outputs = turn
            if not read.isdisjoint(outputs):
                read.update(inputs)
                kept.append(turn)
        self.turns = kept[::-1]

    def _place(self, variable: Any, known: Mapping[Any, int]) -> int:
        if isinstance(variable, core.Literal):
            return self._constant(np.asarray(variable.val, getattr(variable.aval, "dtype", None)))
        return known[variable]

    def _constant(self, value: Any) -> int:
        place = self._new_place()
        self.fixed[place] = np.asarray(value)
        return place

    def _new_place(self) -> int:
        self.places += 1
        return self.places - 1


def _names(of: Iterable[int]) -> str:
    return ", ".join([f"x{place}" for place in of])


def _solved(equation: Any, read: list[int]) -> tuple[Any, Sequence[Any], list[int]]:
    """Return the jaxpr that solves, its constants, and what it reads of what the equation does."""
    lengths, solve = equation.params["const_lengths"], equation.params["jaxprs"].solve
    first = lengths.matvec + lengths.vecmat
    return solve.jaxpr, solve.consts, read[first : first + lengths.solve] + read[sum(lengths) :]


def _branch(branches: Sequence[Any], index: Any) -> Any:
    return branches[min(max(int(index), 0), len(branches) - 1)]


def _refuse_dtype(aval: Any) -> None:
    """Raise NotForHost for numbers that XLA computes with more digits than it keeps, and for keys."""
    if aval.dtype not in _DTYPES and aval.dtype not in spectra.COMPLEX:
        raise NotForHost(f"dtype {aval.dtype}")
