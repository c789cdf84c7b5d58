"""FlopCounterMode counts what torch counts, by kernel and by module, and prints torch's table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import funcgrad
from funcgrad import nn
from funcgrad._tape.apply import apply
from funcgrad.utils.flop_counter import FlopCounterMode, flop_registry, register_flop_formula
from funcgrad.utils.module_tracker import ModuleTracker
from tests.utils.flop_cases import CASES, counts

RECORDED = json.loads((Path(__file__).parent / "recorded" / "flops.json").read_text())


@pytest.mark.parametrize("case", CASES)
def test_counts_are_torchs(case: str) -> None:
    assert counts(funcgrad, case) == RECORDED[case]


@pytest.mark.parity
@pytest.mark.filterwarnings("ignore")
def test_the_record_is_what_torch_counts_now() -> None:
    torch = pytest.importorskip("torch", minversion="2.13")
    pytest.importorskip("torch.utils.flop_counter")
    assert {case: counts(torch, case) for case in CASES} == RECORDED


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(30, 40)
        self.b = nn.Sequential(nn.Linear(40, 50), nn.ReLU(), nn.Linear(50, 2))

    def forward(self, x: Any) -> Any:
        return self.b(self.a(x) @ funcgrad.ones(40, 40))


TABLE = """\
Module              FLOP    % Total
--------------  --------  ---------
N               119.000K    100.00%
 - aten.addmm    33.000K     27.73%
 - aten.mm       86.000K     72.27%
 N.a             24.000K     20.17%
  - aten.addmm   12.000K     10.08%
  - aten.mm      12.000K     10.08%
 N.b             63.000K     52.94%
  - aten.addmm   21.000K     17.65%
  - aten.mm      42.000K     35.29%
"""


def test_the_table_is_printed_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    net = type("N", (Net,), {})()
    with FlopCounterMode():
        net(funcgrad.randn(5, 30)).sum().backward()
    assert capsys.readouterr().out == TABLE


def test_depth_and_what_no_module_holds() -> None:
    net = Net()
    with FlopCounterMode(display=False, depth=None) as counter:
        net(funcgrad.randn(5, 30))
        funcgrad.randn(2, 3) @ funcgrad.randn(3, 4)
    assert [line[:16].rstrip() for line in counter.get_table(1).splitlines()[2:]] == [
        "Global", " - aten.addmm", " - aten.mm", " Net", "  - aten.addmm", "  - aten.mm",
    ]  # fmt: skip
    assert "   Net.b.0" in counter.get_table()
    assert counter.get_total_flops() == sum(counter.get_flop_counts()["Global"].values())


def test_nothing_counted_is_a_table_too() -> None:
    with FlopCounterMode(display=False) as counter:
        funcgrad.ones(3) + 1
    assert counter.get_table().splitlines() == [
        "Module      FLOP    % Total", "--------  ------  ---------", "Global         0         0%",
    ]  # fmt: skip


def test_a_second_pass_is_counted_like_the_first() -> None:
    net = Net()
    totals = []
    for _ in range(3):
        with FlopCounterMode(display=False) as counter:
            net(funcgrad.ones(5, 30)).sum().backward()
        totals.append(counter.get_total_flops())
    assert totals == [119_000] * 3


def test_recording_is_what_it_was_before_and_after() -> None:
    code, defaults = apply.__code__, apply.__defaults__
    with FlopCounterMode(display=False), FlopCounterMode(display=False):
        assert apply.__code__ is not code
    assert (apply.__code__, apply.__defaults__, apply.__kwdefaults__) == (code, defaults, None)


def test_an_operator_of_ones_own_has_the_formula_that_is_registered() -> None:
    @funcgrad.library.custom_op("counted::twice", mutates_args=())
    def twice(x: funcgrad.Tensor) -> funcgrad.Tensor:
        return x @ x

    operator = funcgrad.ops.counted.twice
    with FlopCounterMode(display=False) as before:
        twice(funcgrad.ones(3, 3))
    with pytest.raises(ValueError, match="expected each target to be OpOverloadPacket"):
        register_flop_formula(operator.default)(lambda x: 1)
    register_flop_formula(operator)(lambda x, out_shape=None: 100 * x[0] + out_shape[1])
    try:
        with FlopCounterMode(display=False) as after:
            twice(funcgrad.ones(3, 3))
    finally:
        del flop_registry[operator]
    assert (before.get_flop_counts(), after.get_flop_counts()) == ({}, {"Global": {operator: 303}})


def test_custom_mapping_counts_other_functions() -> None:
    relu = funcgrad.ops.aten.relu
    counter = FlopCounterMode(display=False, custom_mapping={relu: lambda x, out_shape: x.numel()})
    with counter:
        funcgrad.relu(funcgrad.ones(3, 4))
    assert counter.get_flop_counts() == {"Global": {relu: 12}}


def test_what_is_no_kernel_has_no_formula() -> None:
    with pytest.raises(ValueError, match="expected each target to be OpOverloadPacket"):
        register_flop_formula(3)(lambda x: 1)
    with pytest.raises(ValueError, match="expected each target to be OpOverloadPacket"):
        register_flop_formula(funcgrad.ops.aten.mm.default)(lambda x: 1)
    with pytest.raises(RuntimeError, match=r"duplicate registrations for aten\.mm"):
        register_flop_formula(funcgrad.ops.aten.mm)(lambda x: 1)


def test_mods_are_no_longer_needed() -> None:
    with pytest.warns(UserWarning, match="mods argument is not needed anymore"):
        FlopCounterMode(Net())


def test_modules_are_known_in_backward_too() -> None:
    seen = []
    net = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
    with ModuleTracker() as tracker:
        hidden = net[0](funcgrad.ones(1, 3))
        result = net(funcgrad.ones(1, 3))
        result.register_hook(lambda grad: seen.append((tracker.parents, tracker.is_bw)))
        result.sum().backward()
    assert hidden.shape == (1, 3)
    assert seen == [({"Global", "Sequential", "Sequential.1"}, True)]
    assert tracker.parents == {"Global"}
    assert not tracker.is_bw
