"""The checks: each makes cases of an entry's samples, a case being torch's results and a call that gives ours."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import numpy as np
import torch
from torch.autograd import forward_ad

import funcgrad
from funcgrad._tensor.interop import from_jax, to_jax
from tests.ops.op_db.convert import (
    Arguments,
    NoCounterpartError,
    arguments_of_ours,
    arguments_of_torch,
    flat,
    from_torch,
    into_ours,
    into_torch,
    kinds_in,
    name_of,
    random_numbers,
    read,
    tensors,
)
from tests.ops.op_db.entries import EMPTY, function_of, ours, title


class Case(NamedTuple):
    """torch's results of one sample, how ours are computed, and torch's results in double precision.

    given: the dtypes of the sample's tensors. numbers: whether they count. settle: takes out of both sides what torch
    leaves open.
    """

    label: str
    theirs: list[Any]
    call: Callable[[], list[Any]]
    given: set[str]
    truth: Callable[[], list[Any]] | None = None
    numbers: bool = True
    settle: Callable[[list[Any]], list[Any]] = list


def samples(entry: Any, dtype: Any, count: int | None, requires_grad: bool = False) -> Iterator[Any]:
    """Return an entry's samples in one dtype: all of them, or `count` spread over the list."""
    torch.manual_seed(0)
    found = list(entry.sample_inputs("cpu", dtype, requires_grad=requires_grad))
    if count is not None and len(found) > count:
        found = [found[i] for i in np.linspace(0, len(found) - 1, count).astype(int)]
    yield from found


def _seeded(call: Callable[..., Any], given: Arguments) -> Any:
    torch.manual_seed(42)
    funcgrad.manual_seed(42)
    return call(*given.args, **given.kwargs)


def _wider(call: Callable[..., Any], sample: Any) -> Callable[[], list[Any]]:
    return lambda: [read(each) for each in flat(_seeded(call, arguments_of_torch(sample, wider=True)))]


def forward(entry: Any, dtype: Any, count: int | None) -> Iterator[Case]:
    """Values, shapes, dtypes and structure of the function itself."""
    mine, numbers = function_of(entry), EMPTY.fullmatch(entry.name) is None
    for sample in samples(entry, dtype, count):
        theirs = _seeded(entry.op, arguments_of_torch(sample))
        call = _bind(mine, sample, getattr(theirs, "_fields", ()))
        wanted = [read(each) for each in flat(theirs)]
        yield Case("", wanted, call, kinds_in(sample), _wider(entry.op, sample), numbers, settled(entry, sample))


def _bind(mine: Callable[..., Any], sample: Any, fields: tuple[str, ...] = ()) -> Callable[[], list[Any]]:
    def call() -> list[Any]:
        result = _seeded(mine, arguments_of_ours(sample))
        assert not fields or getattr(result, "_fields", None) == fields, f"torch returns a named tuple {fields}"
        return flat(result)

    return call


# Forms


def forms(entry: Any, dtype: Any, count: int | None) -> Iterator[Case]:
    """The method, the operator, in-place forms, aliases and `out=`: each as torch's own does it."""
    spellings = _spellings(entry)
    for sample in samples(entry, dtype, count):
        for label, theirs, changes in spellings:
            if changes and (sample.broadcasts_input or not isinstance(sample.input, torch.Tensor)):
                continue
            try:
                wanted = _seeded(theirs, arguments_of_torch(sample))
            except (RuntimeError, TypeError, ValueError, IndexError):
                continue  # this form does not take this sample
            mine = theirs if getattr(theirs, "__module__", "") == "_operator" else ours(theirs)
            numbers = EMPTY.fullmatch(entry.name) is None
            found = [read(each) for each in flat(wanted)]
            call = _bind(mine, sample)
            yield Case(label, found, call, kinds_in(sample), _wider(theirs, sample), numbers, settled(entry, sample))
        if entry.supports_out:
            yield from _written_out(entry, sample)


def _spellings(entry: Any) -> list[tuple[str, Any, bool]]:
    """Return (label, torch's callable, whether it changes the input)."""
    found = [
        ("method", entry.method_variant, False),
        ("operator", entry.operator_variant, False),
        ("in-place", entry.inplace_variant, True),
        ("in-place operator", entry.inplace_operator_variant, True),
    ]
    for alias in entry.aliases:
        found += [
            (f"alias {alias.name}", alias.op, False),
            (f"method {alias.name}", alias.method_variant, False),
            (f"in-place {alias.name}", alias.inplace_variant, True),
        ]
    return [each for each in found if each[1] is not None]


def _written_out(entry: Any, sample: Any) -> Iterator[Case]:
    given = arguments_of_torch(sample)
    wanted = _seeded(entry.op, given)
    if not all(isinstance(each, torch.Tensor) for each in flat(wanted)):
        return
    if isinstance(wanted, torch.Tensor) and wanted.layout is not torch.strided:  # `scripts/sparse.txt` has it
        return
    several = isinstance(wanted, (tuple, list))
    try:
        place = tuple(map(torch.empty_like, wanted)) if several else torch.empty_like(wanted)
        _seeded(lambda *a, **k: entry.op(*a, out=place, **k), given)
    except (RuntimeError, TypeError):
        return
    mine = function_of(entry)

    def call() -> list[Any]:
        mine_given = arguments_of_ours(sample)
        made = [into_ours(np.zeros_like(from_torch(each))) for each in flat(wanted)]
        result = _seeded(lambda *a, **k: mine(*a, out=tuple(made) if several else made[0], **k), mine_given)
        assert all(a is b for a, b in zip(flat(result), made, strict=True)), "the result is not `out`"
        return made

    numbers = EMPTY.fullmatch(entry.name) is None
    found = [read(each) for each in flat(wanted)]
    yield Case("out=", found, call, kinds_in(sample), _wider(entry.op, sample), numbers, settled(entry, sample))


# Memory


def memory(entry: Any, dtype: Any, count: int | None) -> Iterator[Case]:
    """The strides of the results: of tensors as they come, with all dimensions turned round, with channels last."""
    mine = function_of(entry)
    for sample in samples(entry, dtype, count):
        for label, turn in (("as it comes", _as_it_is), ("turned round", _turned), ("channels last", _channels_last)):
            turned = sample.transform(turn)
            try:
                theirs = _seeded(entry.op, arguments_of_torch(turned))
            except RuntimeError:  # some rows take contiguous tensors only
                continue
            call = _bind(mine, turned)
            wanted = [steps for steps in map(_steps, flat(theirs)) if steps is not None]
            yield Case(label, wanted, lambda call=call: [s for s in map(_steps, call()) if s is not None], set())


def _as_it_is(part: Any) -> Any:
    return part


def _turned(part: Any) -> Any:
    if not isinstance(part, torch.Tensor) or part.ndim < 2 or part.layout is not torch.strided:
        return part
    order = tuple(reversed(range(part.ndim)))
    return part.permute(order).contiguous().permute(order)


def _channels_last(part: Any) -> Any:
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    if not isinstance(part, torch.Tensor) or part.ndim not in formats or part.layout is not torch.strided:
        return part
    return part.contiguous(memory_format=formats[part.ndim])


def _steps(result: Any) -> tuple[int, ...] | None:
    """Return the strides of a tensor; 0 where a dimension has one place, so that its stride says nothing."""
    if not isinstance(result, (torch.Tensor, funcgrad.Tensor)) or 0 in result.shape:
        return None
    if str(result.layout) != "torch.strided":
        return None
    return tuple(0 if size == 1 else step for size, step in zip(result.shape, result.stride(), strict=True))


# What torch leaves open


def settled(entry: Any, sample: Any) -> Callable[[list[Any]], list[Any]]:
    """Return what makes results comparable.

    Left open: which of several equal elements an index points to, and the signs of singular vectors.
    """
    if entry.name in ("svd", "svd_lowrank", "pca_lowrank"):
        return _put_together
    if entry.name == "linalg.svd":
        return lambda found: _put_together([*found[:2], found[2].conj().swapaxes(-1, -2)])
    if entry.name in ("linalg.eig", "linalg.eigh"):
        return _without_phases
    if entry.name not in ("topk", "kthvalue", "mode", "argsort", "sort") or sample.kwargs.get("stable"):
        return list
    places = list(sample.args[1:] if entry.name in ("topk", "kthvalue") else sample.args)
    dim = sample.kwargs.get("dim", places[0] if places else -1)
    numbers = from_torch(sample.input)

    def settle(results: list[Any]) -> list[Any]:
        values, indices = results if len(results) == 2 else (results[0], results[0])
        if not numbers.ndim or values.ndim > numbers.ndim:
            return [values, indices]
        along = indices if values.ndim == numbers.ndim else np.expand_dims(indices, dim)
        if entry.name == "topk":  # sorted or not
            order = np.argsort(values, dim)
            values, along = (np.take_along_axis(x, order, dim) for x in (values, along))
        repeated = (np.diff(np.sort(along, dim), axis=dim) == 0).any()
        values = [values] if len(results) == 2 else []
        return [*values, np.take_along_axis(numbers, along, dim), indices.dtype.name, bool(repeated)]

    return settle


def _without_phases(found: list[Any]) -> list[Any]:
    """Return eigenvalues, and for each eigenvector v the matrix v v^H: its sign or phase is left open."""
    values, vectors = found
    return [values, np.einsum("...ik,...jk->...kij", vectors, np.conj(vectors))]


def _put_together(found: list[Any]) -> list[Any]:
    """Return U, S and V as S and the matrix that they are of."""
    u, s, v = found
    count = s.shape[-1]
    return [u.shape, s, v.shape, (u[..., :count] * s[..., None, :]) @ v[..., :count].conj().swapaxes(-1, -2)]


# Derivatives


def _differentiable(entry: Any, op: Callable[..., Any], sample: Any, is_ours: bool) -> Callable[..., Any]:
    """Return the entry's function as torch differentiates it: inputs made symmetric, gauge freedom taken out."""
    wrapper, process = entry.gradcheck_wrapper, sample.output_process_fn_grad
    if is_ours:
        wrapper, process = ours(wrapper), ours(process)
    return lambda *args, **kwargs: process(wrapper(op, *args, **kwargs))


def _seed(entry: Any, place: int, order: int) -> int:
    return zlib.crc32(f"{title(entry)}:{place}:{order}".encode())


def _first(library: Any, entry: Any, call: Callable[..., Any], given: Arguments, again: bool) -> tuple[Any, Any, Any]:
    """Return (which results have a history, gradients of the leaves, cotangents)."""
    make = into_torch if library is torch else into_ours
    results = list(tensors(flat(_seeded(call, given))))
    cotangents = [make(random_numbers(_seed(entry, i, 1), tuple(r.shape), name_of(r.dtype)), again) for i, r in results]
    if not results or not given.leaves:
        return [i for i, _ in results], [], []
    outputs = [r for _, r in results]
    gradients = library.autograd.grad(outputs, given.leaves, cotangents, allow_unused=True, create_graph=again)
    return [i for i, _ in results], list(gradients), cotangents


def _second(library: Any, entry: Any, call: Callable[..., Any], given: Arguments) -> list[Any]:
    make = into_torch if library is torch else into_ours
    _, gradients, cotangents = _first(library, entry, call, given, True)
    again = [(i, g) for i, g in enumerate(gradients) if g is not None and g.requires_grad]
    if not again:
        return []
    given_back = [make(random_numbers(_seed(entry, i, 2), tuple(g.shape), name_of(g.dtype))) for i, g in again]
    inputs = [*given.leaves, *cotangents]
    return list(library.autograd.grad([g for _, g in again], inputs, given_back, allow_unused=True))


_NO_DERIVATIVE = re.compile(
    "derivative for .* is not implemented|don't support automatic differentiation|Expected a proper Tensor but got None"
)


def _derivative(entry: Any, dtype: Any, count: int | None, compute: Callable[..., list[Any]]) -> Iterator[Case]:
    mine = function_of(entry)
    for sample in samples(entry, dtype, count, requires_grad=True):
        of_torch = _differentiable(entry, entry.op, sample, False)
        of_ours = _differentiable(entry, mine, sample, True)

        def theirs(wider: bool, of_torch: Any = of_torch, sample: Any = sample) -> list[Any]:
            return [read(x) for x in compute(torch, entry, of_torch, arguments_of_torch(sample, wider=wider))]

        def call(of_ours: Any = of_ours, sample: Any = sample) -> list[Any]:
            return compute(funcgrad, entry, of_ours, arguments_of_ours(sample))

        try:
            found = theirs(False)
        except RuntimeError as error:
            if _NO_DERIVATIVE.search(str(error)) is None:
                raise
            continue
        if found:
            yield Case("", found, call, kinds_in(sample), lambda theirs=theirs: theirs(True))


def gradient(entry: Any, dtype: Any, count: int | None) -> Iterator[Case]:
    """What backward gives every leaf for random cotangents; and which results have a history at all."""

    def compute(library: Any, entry: Any, call: Any, given: Arguments) -> list[Any]:
        tracked, gradients, _ = _first(library, entry, call, given, False)
        return [tuple(tracked), *gradients] if given.leaves else []

    return _derivative(entry, dtype, count, compute)


def double_backward(entry: Any, dtype: Any, count: int | None) -> Iterator[Case]:
    """The gradients of the gradients, for the leaves and for the cotangents."""
    return _derivative(entry, dtype, count, _second)


def forward_mode(entry: Any, dtype: Any, count: int | None) -> Iterator[Case]:
    """Tangents of the results for random tangents of the leaves; ours by jax.jvp through the public function."""
    mine = function_of(entry)
    for sample in samples(entry, dtype, count, requires_grad=True):
        found = _torch_tangents(entry, sample)
        if found is not None:
            yield Case("", found, _our_tangents(entry, mine, sample), kinds_in(sample))


def _torch_tangents(entry: Any, sample: Any) -> list[Any] | None:
    given = arguments_of_torch(sample)
    if not given.leaves:
        return None
    process = _differentiable(entry, entry.op, sample, False)
    with forward_ad.dual_level(), torch.no_grad():
        dual: dict[int, Any] = {}
        for i, leaf in enumerate(given.leaves):
            tangent = into_torch(random_numbers(_seed(entry, i, 3), tuple(leaf.shape), name_of(leaf.dtype)))
            dual[id(leaf)] = forward_ad.make_dual(leaf.detach(), tangent)
        args, kwargs = _replaced((given.args, given.kwargs), dual)
        results = flat(_seeded(process, Arguments(args, kwargs, [])))
        pairs = [forward_ad.unpack_dual(r) for r in results if isinstance(r, torch.Tensor)]
        return [read(torch.zeros_like(p.primal) if p.tangent is None else p.tangent) for p in pairs]


def _our_tangents(entry: Any, mine: Callable[..., Any], sample: Any) -> Callable[[], list[Any]]:
    def call() -> list[Any]:
        given = arguments_of_ours(sample)
        process = _differentiable(entry, mine, sample, True)
        primals = [to_jax(leaf.detach()) for leaf in given.leaves]
        tangents = [random_numbers(_seed(entry, i, 3), x.shape, x.dtype.name) for i, x in enumerate(primals)]

        def pure(*arrays: Any) -> list[Any]:
            made = {id(leaf): _in_place_of(leaf, array) for leaf, array in zip(given.leaves, arrays, strict=True)}
            args, kwargs = _replaced((given.args, given.kwargs), made)
            results = flat(_seeded(process, Arguments(args, kwargs, [])))
            return [to_jax(r) for r in results if isinstance(r, funcgrad.Tensor)]

        with jax.enable_x64(True):
            found, moved = jax.jit(lambda p, t: jax.jvp(pure, p, t))(
                tuple(primals), tuple(map(jax.numpy.asarray, tangents))
            )
        return [
            np.zeros_like(x) if m.dtype == jax.dtypes.float0 else np.asarray(m)
            for x, m in zip(found, moved, strict=True)
        ]

    return call


def _in_place_of(leaf: funcgrad.Tensor, array: Any) -> funcgrad.Tensor:
    """Return a tensor of `array` in a storage like that of `leaf`."""
    if leaf._base is None:
        return from_jax(array)
    stored = leaf._base.clone().as_strided(leaf.shape, leaf.stride(), leaf.storage_offset())
    return stored.copy_(from_jax(array))


def _replaced(part: Any, made: dict[int, Any]) -> Any:
    if isinstance(part, (list, tuple)) and not isinstance(part, (torch.Size, funcgrad.Size)):
        return type(part)(_replaced(inner, made) for inner in part)
    if isinstance(part, dict):
        return {key: _replaced(inner, made) for key, inner in part.items()}
    return made.get(id(part), part)


# Errors

_OVERLAP = re.compile("unsupported operation|single memory location")
_TWO_FAULTS = re.compile("Index tensor must have the same number of dimensions as src")  # and an index out of range


def _without_memory() -> Any:
    raise NoCounterpartError("tensors that share memory")


def errors(entry: Any) -> Iterator[tuple[str, type[BaseException], str, Callable[[], Any]]]:
    """Walk through (label, torch's exception, its words, our call) for the wrong inputs that an entry lists.

    The words are the regular expression that the entry has for them, where torch itself says them.

    That `out` shares memory with an input, or with itself, is no fault here: values do not change while they are read.
    """
    if entry.error_inputs_func is None:
        return
    mine = function_of(entry)
    for number, each in enumerate(entry.error_inputs("cpu")):
        wanted, said = None, ""
        try:
            given = arguments_of_torch(each.sample_input)
            entry.op(*given.args, **given.kwargs)
        except Exception as error:  # whatever torch raises here is what we have to raise
            wanted, said = type(error), str(error)
            if _OVERLAP.search(said):
                yield f"case {number}", each.error_type, "", _without_memory
                continue
        if wanted is not None and issubclass(wanted, each.error_type):
            words = each.error_regex if re.search(each.error_regex, said) and not _TWO_FAULTS.search(said) else ""
            yield f"case {number}", each.error_type, words, _bind(mine, each.sample_input)
