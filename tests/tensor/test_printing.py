"""Printing agrees with torch to the letter: recorded texts, and any tensor at all where torch is installed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from funcgrad._base import dtypes
from funcgrad._base.info import finfo, iinfo
from funcgrad._tensor.printing import format_tensor, get_printoptions, printoptions, set_printoptions
from tests.tensor.printing_cases import COMPLEX, FLOATS, INTEGERS, Case, cases

RECORDED = json.loads((Path(__file__).parent / "recorded" / "printing.json").read_text())


def of_name(name: str) -> dtypes.dtype:
    return next(kind for kind in dtypes.ALL if kind.name == name)


def funcgrad_repr(case: Case) -> str:
    with printoptions(**case.options):
        return format_tensor(
            case.array,
            dtype=of_name(case.dtype),
            requires_grad=bool(case.grad),
            grad_fn_name=case.grad if case.grad.endswith("Backward0") else None,
            device=None,
            default_dtype=of_name(case.default_dtype),
            is_parameter=case.grad == "parameter",
        )


def shown(values: Any, **known: Any) -> str:
    array = np.asarray(values)
    known = {"dtype": dtypes.of_numpy(array.dtype), "default_dtype": dtypes.float32} | known
    return format_tensor(array, **known)


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case.name)
def test_text_is_the_one_recorded_from_torch(case: Case) -> None:
    assert funcgrad_repr(case) == RECORDED[case.name]


def test_every_recorded_text_has_its_case() -> None:
    assert {case.name for case in cases()} == set(RECORDED)


def test_device_comes_first_among_the_suffixes() -> None:
    assert shown([1.0], dtype=dtypes.float64, device="cuda:0", requires_grad=True) == (
        "tensor([1.], device='cuda:0', dtype=torch.float64, requires_grad=True)"
    )


def test_a_subclass_prints_under_its_own_name() -> None:
    assert shown([[1], [2]], name="Mask") == "Mask([[1],\n      [2]])"
    assert shown([1], name="Own", is_parameter=True) == "Parameter containing:\nParameter(Own([1]))"


def test_indent_moves_every_line_but_the_first() -> None:
    assert shown([[1], [2]], indent=4) == "tensor([[1],\n" + " " * 12 + "[2]])"


def test_a_large_array_costs_what_its_edges_cost() -> None:
    array = np.broadcast_to(np.float32(0), (10**9, 10**9))  # more than can be looked at
    assert shown(array).count("...") == 7


def test_options_come_back_after_the_block_even_on_an_error() -> None:
    before = get_printoptions()
    with pytest.raises(KeyError), printoptions(precision=1, sci_mode=True, edgeitems=9):
        assert shown([0.25]) == "tensor([2.5e-01], dtype=torch.float64)"
        raise KeyError
    assert get_printoptions() == before == {
        "precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None,
    }  # fmt: skip


def test_sci_mode_is_automatic_again_after_a_call_that_does_not_name_it() -> None:
    with printoptions(sci_mode=True):
        set_printoptions(precision=3)
        assert shown([1.5], dtype=dtypes.float32) == "tensor([1.500])"


@st.composite
def any_case(draw: st.DrawFn) -> Case:
    dtype = draw(st.sampled_from([*FLOATS, *INTEGERS, *COMPLEX, "bool"]))
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=7))
    stored = {"bfloat16": "float32"}.get(dtype, dtype)
    array = draw(hnp.arrays(stored, shape))
    if dtype == "bfloat16":
        with np.errstate(all="ignore"):
            array = array.astype(dtypes.bfloat16.numpy)
    options = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "precision": st.integers(0, 8),
                "threshold": st.integers(0, 50),
                "edgeitems": st.integers(0, 4),
                "linewidth": st.integers(1, 120),
                "sci_mode": st.sampled_from([None, True, False]),
                "profile": st.sampled_from(["default", "short", "full"]),
            },
        )
    )
    grads = ["", "leaf", "parameter", "AddBackward0"] if dtype in (*FLOATS, *COMPLEX) else [""]
    default_dtype = draw(st.sampled_from(["float32", "float64"]))
    return Case("any", array, dtype, draw(st.sampled_from(grads)), default_dtype, options)


@pytest.mark.parity
@settings(max_examples=300, deadline=None)
@given(case=any_case())
def test_any_tensor_prints_as_torch_prints_it(case: Case) -> None:
    recorder = pytest.importorskip("tests.tensor.record_printing", reason="needs torch")
    assert funcgrad_repr(case) == recorder.torch_repr(case)


@pytest.mark.parametrize(
    ("name", "resolution"), [("float64", 1e-15), ("float32", 1e-6), ("float16", 1e-3), ("bfloat16", 1e-2)]
)
def test_the_limits_of_a_dtype_are_written_as_torch_writes_them(name: str, resolution: float) -> None:
    assert finfo(of_name(name)).resolution == pytest.approx(resolution, rel=1e-12)
    assert repr(finfo(of_name(name))).startswith(f"finfo(resolution={resolution:g}, min=")
    assert repr(iinfo(dtypes.int32)) == "iinfo(min=-2.14748e+09, max=2.14748e+09, dtype=int32)"
    assert finfo(dtypes.float8_e5m2fnuz).eps == 0.125 and finfo(dtypes.float8_e5m2).eps == 0.25
    assert repr(iinfo(dtypes.int8)) == "iinfo(min=-128, max=127, dtype=int8)"


def test_pythons_own_types_have_limits() -> None:
    assert finfo(float).dtype == finfo(complex).dtype == "float64"
    assert iinfo(int).max == 2**63 - 1
    with pytest.raises(TypeError, match=r"torch\.bool is not supported by torch\.iinfo"):
        iinfo(bool)
