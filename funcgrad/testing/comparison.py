"""assert_close: whether tensors, numbers, or sequences and mappings of them agree, and where they do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.layouts import strided
from funcgrad._base.warning import warn
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.tensor import Tensor

_NUMBERS = (bool, int, float, complex, np.number, np.bool_)
_TOLERANCES = {
    "float16": (1e-3, 1e-5), "bfloat16": (0.016, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7),
}  # fmt: skip
_OLD_TOLERANCES = {"float16": (1e-3, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-8)}

_SPARSE = {
    "torch.sparse_coo": ("COO", "_indices"),
    "torch.sparse_csr": ("CSR", "crow_indices", "col_indices"),
    "torch.sparse_csc": ("CSC", "ccol_indices", "row_indices"),
    "torch.sparse_bsr": ("BSR", "crow_indices", "col_indices"),
    "torch.sparse_bsc": ("BSC", "ccol_indices", "row_indices"),
}  # what each layout is called, and what says where its values are


class _Options(NamedTuple):
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_layout: bool
    check_device: bool
    check_dtype: bool
    check_stride: bool
    msg: str | Callable[[str], str] | None
    allow_subclasses: bool


def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True, check_layout: bool = True,
    check_stride: bool = False, msg: str | Callable[[str], str] | None = None,
) -> None:  # fmt: skip
    """Raise AssertionError unless |actual - expected| <= atol + rtol * |expected|, element by element.

    Tolerances are given both or neither; by default they follow from the dtypes, torch's for each. Tensors, arrays and
    numbers are compared, and sequences and mappings of them. msg replaces the message, or makes another of it.
    Raises TypeError for what cannot be compared. allow_subclasses=False: both are of one class.
    """
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.")
    options = _Options(
        rtol, atol, equal_nan, check_layout, check_device, check_dtype, check_stride, msg, allow_subclasses
    )
    _compare(actual, expected, options, ())


def assert_allclose(
    actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None, equal_nan: bool = True,
    msg: str = "",
) -> None:  # fmt: skip
    """Raise AssertionError unless both are near; an older way, which takes NaN for near and compares any dtypes."""
    warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. Please "
        "use `torch.testing.assert_close()` instead. You can find detailed upgrade instructions in "
        "https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning,
    )
    actual, expected = (x if isinstance(x, Tensor) else from_host(np.asarray(x)) for x in (actual, expected))
    if rtol is None and atol is None:
        rtol, atol = map(max, *(_OLD_TOLERANCES.get(x.dtype.name, (0.0, 0.0)) for x in (actual, expected)))
    assert_close(
        actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=True, check_dtype=False,
        msg=msg or None,
    )  # fmt: skip


def _compare(actual: Any, expected: Any, options: _Options, path: tuple[Any, ...]) -> None:
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        missing, additional = set(expected) - set(actual), set(actual) - set(expected)
        if missing or additional:
            _fail(
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {sorted(missing, key=repr)}\n"
                f"Additional keys in the actual mapping: {sorted(additional, key=repr)}", options, path,
            )  # fmt: skip
        for key in expected:
            _compare(actual[key], expected[key], options, (*path, key))
    elif _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            _fail(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", options, path)
        for i, pair in enumerate(zip(actual, expected, strict=True)):
            _compare(*pair, options, (*path, i))
    elif actual is None or expected is None:
        if actual is not expected:
            _fail(f"None mismatch: {actual} is not {expected}", options, path)
    elif isinstance(actual, _NUMBERS) and isinstance(expected, _NUMBERS):
        _compare_numbers(actual, expected, options, path)
    elif _are_arrays(actual, expected) and _are_related(actual, expected, options.allow_subclasses):
        _compare_tensors(_tensor(actual), _tensor(expected), options, path)
    else:
        kinds = f"{type(actual)} and {type(expected)}"
        raise TypeError(f"No comparison pair was able to handle inputs of type {kinds}.{_where(path)}")


def _are_arrays(actual: Any, expected: Any) -> bool:
    return isinstance(actual, (Tensor, np.ndarray)) and isinstance(expected, (Tensor, np.ndarray))


def _are_related(actual: Any, expected: Any, allow_subclasses: bool) -> bool:
    if allow_subclasses:
        return isinstance(actual, type(expected)) or isinstance(expected, type(actual))
    return type(actual) is type(expected)


def _tensor(given: Any) -> Tensor:
    return given if isinstance(given, Tensor) else from_host(given)


def _is_sequence(given: Any) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, (str, bytes))


def _compare_numbers(actual: Any, expected: Any, options: _Options, path: tuple[Any, ...]) -> None:
    if isinstance(actual, (bool, np.bool_)) and isinstance(expected, (bool, np.bool_)):
        if actual is not expected and bool(actual) != bool(expected):
            _fail(f"Booleans mismatch: {actual} is not {expected}", options, path)
        return
    if options.check_dtype and type(actual) is not type(expected):
        _fail(f"The (d)types do not match: {type(actual)} != {type(expected)}.", options, path)
    kinds = [dtypes.of_number(np.asarray(x).item()) for x in (actual, expected)]
    exact = {"float32": "float64", "complex64": "complex128"}  # a Python number has the wider one
    rtol, atol = _tolerances(options, [exact.get(kind.name, kind.name) for kind in kinds])
    is_near = np.isclose(actual, expected, rtol, atol, options.equal_nan) if rtol or atol else actual == expected
    if not is_near:
        _fail(_about_numbers("Scalars", actual, expected, rtol, atol), options, path)


def _compare_tensors(actual: Tensor, expected: Tensor, options: _Options, path: tuple[Any, ...]) -> None:
    checked = {"layout": options.check_layout, "device": options.check_device, "dtype": options.check_dtype}
    for name, is_checked in {"shape": True, **checked}.items():
        ours, theirs = getattr(actual, name), getattr(expected, name)
        if is_checked and ours != theirs:
            _fail(f"The values for attribute '{name}' do not match: {ours} != {theirs}.", options, path)
    if options.check_stride and actual.stride() != expected.stride():
        strides = f"{actual.stride()} != {expected.stride()}"
        _fail(f"The values for attribute 'stride()' do not match: {strides}.", options, path)
    rtol, atol = _tolerances(options, [actual.dtype.name, expected.dtype.name])
    if actual.layout != expected.layout:
        actual, expected = (x if x.layout is strided else x.to_dense() for x in (actual, expected))
    if actual.layout is strided:
        _compare_elements("Tensor-likes", actual, expected, (rtol, atol), options, path)
        return
    kind, *indices = _SPARSE[str(actual.layout)]
    counts = {"specified values": (actual._nnz(), expected._nnz())}
    if kind == "COO":
        counts = {"sparse dimensions": (actual.sparse_dim(), expected.sparse_dim()), **counts}
    for counted, (ours, theirs) in counts.items():
        if ours != theirs:
            what = f"The number of {counted} in sparse {kind} tensors does not match"
            _fail(f"{what}: {ours} != {theirs}", options, path)
    for name in indices:
        ours, theirs = (getattr(x, name)() for x in (actual, expected))
        _compare_elements(f"Sparse {kind} {name.lstrip('_')}", ours, theirs, (0.0, 0.0), options, path)
    values = actual._values() if kind == "COO" else actual.values()
    others = expected._values() if kind == "COO" else expected.values()
    _compare_elements(f"Sparse {kind} values", values, others, (rtol, atol), options, path)


def _compare_elements(
    what: str, actual: Tensor, expected: Tensor, allowed: tuple[float, float], options: _Options, path: tuple[Any, ...]
) -> None:
    """Raise AssertionError where elements of strided tensors differ. what: the message begins with it."""
    rtol, atol = allowed
    given, wanted = (to_host(x.detach()) for x in (actual, expected))
    common = np.promote_types(given.dtype, wanted.dtype)
    if common.kind in "bu":
        common = np.dtype(np.int64)
    given, wanted = given.astype(common), wanted.astype(common)
    is_exact = common.kind == "i" and rtol == atol == 0  # isclose would compare rounded floats
    matches = given == wanted if is_exact else np.isclose(given, wanted, rtol, atol, options.equal_nan)
    if matches.all():
        return
    if not given.shape:
        _fail(_about_numbers("Scalars", given.item(), wanted.item(), rtol, atol), options, path)
    _fail(_about_tensors(what, given, wanted, matches, rtol, atol), options, path)


def _tolerances(options: _Options, kinds: list[str]) -> tuple[float, float]:
    if options.rtol is not None and options.atol is not None:
        return options.rtol, options.atol
    pairs = [_TOLERANCES.get(kind, (0.0, 0.0)) for kind in kinds]
    return max(pair[0] for pair in pairs), max(pair[1] for pair in pairs)


def _about_numbers(what: str, actual: Any, expected: Any, rtol: float, atol: float) -> str:
    difference = abs(actual - expected)
    relative = float("inf") if expected == 0 else difference / abs(expected)
    return (
        f"{what} are not {'close' if rtol or atol else 'equal'}!\n\nExpected {expected} but got {actual}.\n"
        f"Absolute difference: {difference}{_allowed(atol, rtol, atol)}\n"
        f"Relative difference: {relative}{_allowed(rtol, rtol, atol)}"
    )


def _about_tensors(what: str, given: Any, wanted: Any, matches: Any, rtol: float, atol: float) -> str:
    with np.errstate(all="ignore"):
        absolute = np.abs(given - wanted)
        relative = absolute / np.abs(wanted)
        if given.dtype.kind == "i":
            relative = relative.astype(np.float32)
    absolute, relative = (np.where(matches, np.zeros_like(part), part) for part in (absolute, relative))
    lines = [f"Mismatched elements: {(~matches).sum()} / {matches.size} ({(~matches).mean():.1%})"]
    for name, part, allowed in (("absolute", absolute, atol), ("relative", relative, rtol)):
        place = tuple(int(i) for i in np.unravel_index(np.argmax(part), part.shape))
        allowance = _allowed(allowed, rtol, atol)
        lines.append(f"Greatest {name} difference: {part[place].item()} at index {place}{allowance}")
    return f"{what} are not {'close' if rtol or atol else 'equal'}!\n\n" + "\n".join(lines)


def _allowed(tolerance: float, rtol: float, atol: float) -> str:
    return f" (up to {tolerance} allowed)" if rtol or atol else ""


def _where(path: tuple[Any, ...]) -> str:
    return f"\n\nThe failure occurred for item {''.join(f'[{key!r}]' for key in path)}" if path else ""


def _fail(message: str, options: _Options, path: tuple[Any, ...]) -> None:
    message += _where(path)
    raise AssertionError(message if options.msg is None else options.msg(message) if callable(options.msg)
                         else options.msg)  # fmt: skip
