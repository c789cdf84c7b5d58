"""What a Fuzzer draws is what torch 2.13 draws from the same seed."""

from __future__ import annotations

from typing import Any

import pytest

import funcgrad as torch
from funcgrad.utils.benchmark import FuzzedParameter, FuzzedTensor, Fuzzer, ParameterAlias, Timer


def test_a_fuzzer_draws_torchs_sizes_orders_and_numbers() -> None:
    lengths = [FuzzedParameter(name, minval=1, maxval=10_000, distribution="loguniform") for name in ("k0", "k1")]
    table = FuzzedTensor("x", ("k0", "k1"), min_elements=128, max_elements=10_000, probability_contiguous=0.6)
    fuzzer = Fuzzer([lengths], [table], seed=0)
    drawn = list(fuzzer.take(2))
    assert [list(params.values()) for _, _, params in drawn] == [[151, 49], [12, 81]]
    assert [tensors["x"].stride() for tensors, _, _ in drawn] == [(1, 151), (1, 12)]
    assert drawn[0][0]["x"][0, :2].tolist() == pytest.approx([0.7821, 0.0536], abs=5e-5)
    about = drawn[1][1]["x"]
    assert about["order"].tolist() == [1, 0]
    assert {name: about[name] for name in about if name != "order"} == {
        "numel": 972, "steps": (1, 1), "is_contiguous": False, "dtype": "torch.float32",
    }  # fmt: skip
    assert [params for _, _, params in fuzzer.take(2)] == [params for _, _, params in drawn]


def test_dimensions_steps_and_constructors_are_drawn_for() -> None:
    numbers = [FuzzedParameter("d", 2, 4, "uniform", strict=True), FuzzedParameter("s", 1, 2, "uniform")]
    lengths = [FuzzedParameter(f"k{place}", 2, 6, "uniform") for place in range(4)]
    names = ("k0", "k1", "k2", "k3")
    many = FuzzedTensor("a", names, ("s", "s"), dim_parameter="d", dtype=torch.int64, max_allocation_bytes=4000)

    def alike(size: Any, dtype: Any, k0: int, **_: Any) -> Any:
        return torch.full(size, k0, dtype=dtype)

    parameters = [numbers[0], lengths, numbers[1], FuzzedParameter("u", 0.5, 1.5, "uniform")]
    fuzzer = Fuzzer(parameters, [many, FuzzedTensor("b", ("k0", 3), tensor_constructor=alike)], seed=7)
    shown = [(t["a"].stride(), t["a"].sum().item(), t["b"][0, 0].item(), p["u"]) for t, _, p in fuzzer.take(4)]
    assert shown[:3] == [
        ((30, 6, 1), 9599, 5.0, pytest.approx(0.7638708390378987)),
        ((2, 24), 700, 6.0, pytest.approx(1.1743304229389548)),
        ((16, 4, 1), 353, 2.0, pytest.approx(1.4501295004136456)),
    ]
    assert fuzzer.rejection_rate == 0.2


def test_an_alias_is_the_value_of_another_parameter() -> None:
    same = [FuzzedParameter("x", 3, 5, "uniform"), FuzzedParameter("y", distribution={ParameterAlias("x"): 1.0})]
    assert all(params["y"] == params["x"] for _, _, params in Fuzzer(same, [], seed=1).take(5))
    ring = [FuzzedParameter(a, distribution={ParameterAlias(b): 1.0}) for a, b in ("xy", "yx")]
    with pytest.raises(ValueError, match="ParameterAlias cycle detected"):
        next(Fuzzer(ring, []).take(1))


def test_what_cannot_be_drawn_is_refused() -> None:
    one = FuzzedParameter("a", 1, 2, "uniform")
    with pytest.raises(ValueError, match=r"Duplicate names in parameters and tensors: {'a'}"):
        Fuzzer([one], [FuzzedTensor("a", (1,))])
    with pytest.raises(ValueError, match="Failed to generate a set of valid parameters"):
        next(Fuzzer([one], [], constraints=[lambda params: params["a"] > 2]).take(1))
    with pytest.raises(AssertionError, match="Unknown distribution: normal"):
        FuzzedParameter("a", 1, 2, "normal")
    with pytest.raises(AssertionError, match="Distribution is not normalized"):
        FuzzedParameter("a", distribution={1: 0.5})


def test_a_timers_statement_knows_torch() -> None:
    assert Timer("torch.ones(2) + y", globals={"y": 1}).timeit(2).number_per_run == 2
