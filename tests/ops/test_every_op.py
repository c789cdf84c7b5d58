"""Every public function against torch's recorded numbers: value, dtype, gradient, graph, method, in-place, eager.

FUNCGRAD_TEST_ROWS=1 holds the bare rows to them instead, one sample a test: the quick check while writing a row.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from funcgrad._base.config import settings
from funcgrad._ops.table import TABLE
from tests.ops.calling import RECORDED, every_sample, family_names, fingerprint, numpy_dtype, samples_of
from tests.ops.public import call_public, has_method, has_twin, read
from tests.ops.rows import call_row, row_of
from tests.ops.samples import Sample

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # samples hold what torch warns of

ROWS_ONLY = os.environ.get("FUNCGRAD_TEST_ROWS", "0") not in ("", "0")
SAMPLES = [pytest.param(*each, id=f"{each[0]}-{each[1]}-{each[2]}") for each in every_sample()] if ROWS_ONLY else []
NAMES = [pytest.param(family, name, id=f"{family}-{name}") for family in family_names() for name in samples_of(family)]
TOLERANCE = {
    "float16": (4e-3, 4e-3), "bfloat16": (3e-2, 3e-2), "float32": (3e-5, 1e-5), "float64": (1e-7, 1e-9),
    "complex64": (3e-5, 1e-5), "complex128": (1e-7, 1e-9),
}  # fmt: skip
REFUSALS = (RuntimeError, IndexError, TypeError, ValueError)


@functools.cache
def recorded(family: str) -> tuple[dict[str, Any], Any]:
    """Return a family's index and arrays."""
    path = RECORDED / f"{family}.npz"
    if not path.exists():
        pytest.fail(f"{family} has no recorded numbers: run python -m tests.ops.record {family}")
    file = np.load(path)
    arrays = {key: file[key] for key in file.files}
    return json.loads(arrays["index"].tobytes()), arrays


def told_by_torch(family: str, name: str, number: int, sample: Sample) -> tuple[dict[str, Any], list[Any], list[Any]]:
    """Return what torch said of a sample: its index entry, results and gradients (None where it has none)."""
    index, arrays = recorded(family)
    key = f"{name}|{number}"
    entry = index.get(key)
    if entry is None or entry["fingerprint"] != fingerprint(name, sample):
        pytest.fail(f"the record of {name} is stale: run python -m tests.ops.record {family}")
    results = [arrays[f"{key}|result{i}"] for i in range(len(entry.get("kinds", ())))]
    gradients = [arrays[f"{key}|grad{i}"] if has else None for i, has in enumerate(entry.get("grads", ()))]
    return entry, results, gradients


def assert_close(what: str, ours: np.ndarray, theirs: np.ndarray, kind: str, sample: Sample) -> None:
    """Hold an array to torch's: shape, dtype, numbers."""
    assert ours.shape == theirs.shape, f"{what}: shape {ours.shape}, torch {theirs.shape}"
    if kind.startswith("Python "):
        assert ours.dtype.kind == theirs.dtype.kind, f"{what}: {ours.dtype}, torch {kind}"
        assert ours.tolist() == pytest.approx(theirs.tolist())
        return
    assert ours.dtype == numpy_dtype(kind), f"{what}: dtype {ours.dtype}, torch {kind}"
    if kind not in TOLERANCE:
        np.testing.assert_array_equal(ours, theirs.astype(ours.dtype), err_msg=what)
        return
    kinds = {kind, *sample.dtypes} & set(TOLERANCE)
    rtol, atol = max(TOLERANCE[each] for each in kinds)
    rtol, atol = sample.rtol or rtol, sample.atol or atol
    wide = np.complex128 if kind.startswith("complex") else np.float64
    np.testing.assert_allclose(ours.astype(wide), theirs.astype(wide), rtol, atol, equal_nan=True, err_msg=what)


def assert_answer(
    sample: Sample, entry: dict[str, Any], torchs: tuple[list[Any], list[Any]], ours: tuple[Any, Any]
) -> None:
    """Hold results and gradients to torch's."""
    assert len(ours[0]) == len(torchs[0]), f"{len(ours[0])} results, torch {len(torchs[0])}"
    for i, (mine, theirs) in enumerate(zip(ours[0], torchs[0], strict=True)):
        assert_close(f"result {i}", mine, theirs, entry["kinds"][i], sample)
    if torchs[1]:
        assert len(ours[1]) == len(torchs[1]), f"no gradient, torch has {entry['nodes']}"
    for i, (mine, theirs) in enumerate(zip(ours[1], torchs[1], strict=False)):
        if theirs is None or mine is None:
            assert mine is None or not np.any(mine), f"gradient {i}: torch has none"
            assert theirs is None or not np.any(theirs), f"gradient {i}: only torch has one"
        else:
            kind = "bfloat16" if mine.dtype == numpy_dtype("bfloat16") else str(theirs.dtype)
            assert_close(f"gradient {i}", mine, theirs, kind, sample)


@pytest.mark.parametrize(("family", "name", "number", "sample"), SAMPLES)
def test_row_equals_torch(family: str, name: str, number: int, sample: Sample) -> None:
    op = row_of(name, sample)
    if op is None:
        pytest.skip(f"{name} is a hand-written front, no row")
    entry, results, gradients = told_by_torch(family, name, number, sample)
    if sample.fails:
        with pytest.raises(REFUSALS) as caught:
            call_row(op, name, sample)
        assert caught.typename == entry["error"], f"{caught.value!r}; torch: {entry['message']}"
        return
    ours, pulled, node = call_row(op, name, sample)
    if gradients and sample.graph:
        assert node == next(tree for tree in entry["nodes"] if tree).partition("(")[0]
    assert_answer(sample, entry, (results, gradients), (ours, pulled))


class Faults:
    """Gathers what is wrong with the samples of one name, so that one bad sample does not hide the others."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def check(self, number: int, sample: Sample, claim: Callable[[], None]) -> None:
        """Run a claim and keep its complaint."""
        try:
            claim()
        except (AssertionError, *REFUSALS) as error:
            self.told.append(f"sample {number}: {sample.args} {sample.kwargs}: {type(error).__name__}: {error}")

    def tell(self) -> None:
        """Fail with all complaints."""
        assert not self.told, "\n\n".join(self.told)


def _numbered(family: str, name: str, refused: bool = False) -> Iterator[tuple[int, Sample]]:
    for number, sample in enumerate(samples_of(family)[name]):
        if sample.fails is refused:
            yield number, sample


if not ROWS_ONLY:

    @pytest.mark.parametrize(("family", "name"), NAMES)
    def test_function_equals_torch(family: str, name: str) -> None:
        faults, answers = Faults(), {}
        for number, sample in _numbered(family, name):
            faults.check(number, sample, lambda n=number, s=sample: answers.update({n: call_public(name, s)}))
        for number, sample in _numbered(family, name):
            if number in answers:
                faults.check(number, sample, lambda n=number, s=sample: _assert_told(family, name, n, s, answers[n]))
        faults.tell()

    @pytest.mark.parametrize(("family", "name"), [p for p in NAMES if any(_numbered(*p.values, refused=True))])
    def test_function_refuses_what_torch_refuses(family: str, name: str) -> None:
        faults = Faults()
        for number, sample in _numbered(family, name, refused=True):
            faults.check(number, sample, lambda n=number, s=sample: _assert_refused(family, name, n, s))
        faults.tell()

    @pytest.mark.thorough
    @pytest.mark.parametrize(("family", "name"), [p for p in NAMES if has_method(p.values[1])])
    def test_method_equals_function(family: str, name: str) -> None:
        _assert_spelling(family, name, f".{name}")

    @pytest.mark.thorough
    @pytest.mark.parametrize(("family", "name"), [p for p in NAMES if has_twin(p.values[1])])
    def test_in_place_equals_out_of_place(family: str, name: str) -> None:
        _assert_spelling(family, name, f".{name}_")

    @pytest.mark.thorough
    @pytest.mark.parametrize(("family", "name"), NAMES)
    def test_eager_equals_fused(family: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        chosen = list(_numbered(family, name))[:2]
        fused = {number: call_public(name, sample) for number, sample in chosen}
        read([r for answer in fused.values() for r in answer.results + answer.gradients])
        monkeypatch.setattr(settings, "eager", True)
        faults = Faults()
        for number, sample in chosen:
            eager = call_public(name, sample)
            faults.check(number, sample, lambda a=fused[number], b=eager, s=sample: _assert_same(a, b, s))
        faults.tell()


def _assert_told(family: str, name: str, number: int, sample: Sample, answer: Any) -> None:
    entry, results, gradients = told_by_torch(family, name, number, sample)
    assert_answer(sample, entry, (results, gradients), (read(answer.results), read(answer.gradients)))
    if gradients and sample.graph:
        assert answer.graphs == entry["nodes"]


def _assert_refused(family: str, name: str, number: int, sample: Sample) -> None:
    entry, _, _ = told_by_torch(family, name, number, sample)
    with pytest.raises(REFUSALS) as caught:
        call_public(name, sample)
    assert caught.typename == entry["error"], f"{caught.value!r}; torch: {entry['message']}"


def _assert_spelling(family: str, name: str, spelled: str) -> None:
    """Hold another spelling to the plain function, on the first samples that it can take."""
    faults, chosen = Faults(), []
    for number, sample in _numbered(family, name):
        if len(chosen) == 3 or not hasattr(sample.args[0], "array"):
            continue
        function = call_public(name, sample)
        target = sample.args[0]
        if spelled.endswith("_") and not (sample.in_place and _fits(function.results[0], target)):
            continue
        chosen.append((number, sample, function))
    for number, sample, function in chosen:
        faults.check(number, sample, lambda f=function, s=sample: _assert_same(f, call_public(name, s, spelled), s))
    faults.tell()


def _fits(result: Any, target: Any) -> bool:
    return tuple(result.shape) == target.shape and result.dtype.name == target.dtype


def _assert_same(first: Any, second: Any, sample: Sample) -> None:
    for what in ("results", "gradients"):
        ones, others = read(getattr(first, what)), read(getattr(second, what))
        assert len(ones) == len(others)
        for i, (one, other) in enumerate(zip(ones, others, strict=True)):
            if one is None or other is None:
                assert one is other
            else:
                kind = "bfloat16" if one.dtype == numpy_dtype("bfloat16") else str(one.dtype)
                assert_close(f"{what} {i}", other, one, kind, sample)


NO_SAMPLES: dict[str, str] = {
    **dict.fromkeys(("T", "mT", "mH", "H"), "properties of Tensor: tests/tensor has them"),
    "scaled_mm": "of 8-bit floats: tests/tensor has it",
    "zero": "only a method that works in place: tests/tensor has it",
    **dict.fromkeys(
        ("native_dropout_backward", "max_pool2d_with_indices_backward", "upsample_bilinear2d_aa"),
        "only under torch.ops.aten: op_db has them",
    ),
}


def test_every_public_row_has_samples() -> None:
    sampled = {name for family in family_names() for name in samples_of(family)}
    rows = {s.row for family in family_names() for listed in samples_of(family).values() for s in listed}
    missing = [
        op.name for op in TABLE.values()
        if op.names and not sampled & {op.name, *op.names} and op.name not in rows and op.name not in NO_SAMPLES
    ]  # fmt: skip
    assert not missing, f"these rows need samples in tests/ops/samples/: {' '.join(sorted(missing))}"
