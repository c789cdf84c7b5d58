"""TorchDispatchMode is told of the functions of aten that torch makes of a call, and answers for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import funcgrad
from funcgrad import nn, overrides
from funcgrad.utils._python_dispatch import TorchDispatchMode, _disable_current_modes, _get_current_dispatch_mode
from tests.utils.dispatch_cases import CALLS, logged

RECORDED = json.loads((Path(__file__).parent / "recorded" / "dispatch.json").read_text())
aten = funcgrad.ops.aten


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_a_mode_is_told_what_torchs_is(call: str) -> None:
    assert logged(funcgrad, TorchDispatchMode, call) == RECORDED[call]


@pytest.mark.parity
@pytest.mark.filterwarnings("ignore")
def test_the_record_is_what_torchs_mode_sees_now() -> None:
    torch = pytest.importorskip("torch", minversion="2.13")
    mode = pytest.importorskip("torch.utils._python_dispatch").TorchDispatchMode
    assert {call: logged(torch, mode, call) for call in CALLS} == RECORDED


class Seen(TorchDispatchMode):
    def __init__(self) -> None:
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


class Changing(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is aten.relu.default:
            return args[0] * 2
        return func(*args, **(kwargs or {}))


def test_a_mode_answers_for_a_call() -> None:
    with Changing():
        changed = nn.ReLU()(funcgrad.tensor([-1.0, 2.0]))
    assert changed.tolist() == [-2.0, 4.0]


def test_what_the_inner_mode_calls_is_seen_by_the_outer() -> None:
    with Seen() as seen, Changing():
        funcgrad.ones(2).relu()
    assert seen.names == ["aten.ones.default", "aten.mul.Tensor"]


def test_no_mode_is_active_in_its_own_method_nor_after_its_block() -> None:
    with Seen() as seen:
        assert _get_current_dispatch_mode() is seen
        funcgrad.ones(2)
        with _disable_current_modes():
            funcgrad.zeros(2)
    funcgrad.ones(2)
    assert seen.names == ["aten.ones.default"]
    assert _get_current_dispatch_mode() is None


def test_modes_of_public_functions_are_asked_first_wherever_they_stand() -> None:
    class Public(overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {})) + 1

    x = funcgrad.zeros(2)
    with Public(), Seen() as seen:
        y = x.relu()
    assert y.tolist() == [1.0, 1.0]
    assert seen.names == ["aten.relu.default", "aten.add.Tensor"]


def test_gradients_are_those_of_the_whole() -> None:
    net = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.GELU(), nn.Linear(4, 2))
    x, target = funcgrad.rand(5, 3), funcgrad.tensor([0, 1, 1, 0, 1])
    wanted = funcgrad.autograd.grad(nn.functional.cross_entropy(net(x), target), tuple(net.parameters()))
    with Seen():
        loss = nn.functional.cross_entropy(net(x), target)
    for a, b in zip(wanted, funcgrad.autograd.grad(loss, tuple(net.parameters())), strict=True):
        assert funcgrad.allclose(a, b, atol=1e-6)


def test_an_overload_has_torchs_schema() -> None:
    schema = aten.add.Tensor._schema
    assert str(schema) == "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
    assert (schema.name, schema.overload_name) == ("aten::add", "Tensor")
    assert [(a.name, a.kwarg_only, a.default_value) for a in schema.arguments[1:]] == [
        ("other", False, None),
        ("alpha", True, 1),
    ]
    assert [(r.name, r.kind) for r in aten.max.dim._schema.returns] == [("values", "Tensor"), ("indices", "Tensor")]


def test_an_overload_says_what_it_changes_and_what_it_is_a_view_of() -> None:
    view, added, split = aten.view.default, aten.add_.Tensor, aten.split.Tensor
    assert str(view._schema) == "aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)"
    assert str(split._schema) == "aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]"
    assert [f.is_view for f in (view, split, added, aten.relu.default)] == [True, True, False, False]
    assert [f._schema.is_mutable for f in (view, added)] == [False, True]
    for schema, is_write in ((view._schema, False), (added._schema, True)):
        assert schema.arguments[0].alias_info.is_write is is_write is schema.returns[0].alias_info.is_write
    assert added._schema.arguments[1].alias_info is None


def test_an_overload_has_torchs_names() -> None:
    overload = aten.add.Tensor
    assert (overload._overloadpacket, overload._opname, overload._name) == (aten.add, "add", "aten::add.Tensor")
    assert overload.__module__ == aten.add.__module__ == "torch._ops.aten"
    assert aten.add._qualified_op_name == "aten::add" and "Tensor" in aten.add.overloads()


def test_kernels_have_atens_own_arguments() -> None:
    x = funcgrad.tensor([-1.0, 2.0])
    assert aten.mse_loss(x, x + 1, 2).item() == 2.0
    assert aten._softmax.default(x[None], 1, False).sum().item() == pytest.approx(1.0)
    assert aten.elu.default(x, 1.0, 2.0)[1].item() == 4.0
    assert aten.zeros.default([2]).tolist() == [0.0, 0.0]


def test_a_module_can_be_made_and_converted_within_a_mode() -> None:
    with Seen() as seen:
        layer = nn.RMSNorm(3).half()
    assert layer.weight.dtype is funcgrad.float16
    assert seen.names == ["aten.empty.memory_format", "aten.fill_.Scalar", "aten._to_copy.default"]
