"""Under autocast every op computes in torch's precision; outside, nothing changes."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad._ops import autocast as policies
from funcgrad._ops.table import TABLE
from tests.amp import cases

RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text())


@pytest.fixture(scope="module")
def both() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(4, 4), torch.randn(4, 4)


@pytest.mark.parametrize("name", cases.CALLS)
def test_results_have_torchs_dtypes(name: str) -> None:
    assert str(cases.called(torch, name).dtype) == RECORDED["dtypes"][name]


@pytest.mark.parametrize("name", RECORDED["losses"])
def test_training_follows_torch_within_the_rounding_of_its_dtype(name: str) -> None:
    kind, dtype = name.split()
    found, wanted = cases.losses(torch, kind, dtype), np.array(RECORDED["losses"][name])
    np.testing.assert_allclose(found, wanted, atol=0.02 if dtype == "bfloat16" else 0.01)


def test_both_lists_name_rows_of_the_table() -> None:
    for lists in (policies.ON_ACCELERATORS, policies.ON_CPUS):
        names = [name for each in lists.values() for name in each.split()]
        assert len(names) == len(set(names))
        assert all(TABLE[name].autocast for name in names)


def test_blocks_nest_and_can_be_left_for_a_while(both: Any) -> None:
    x, y = both
    outer = torch.autocast("cpu")
    with outer:
        assert torch.is_autocast_enabled("cpu") and not torch.is_autocast_enabled("cuda")
        with torch.autocast("cpu", enabled=False):
            assert (x @ y).dtype is torch.float32
            with outer:
                assert (x @ y).dtype is torch.bfloat16
        with torch.autocast("cpu", dtype=torch.float16):
            assert (x @ y).dtype is torch.float16 and torch.get_autocast_dtype("cpu") is torch.float16
        assert (x @ y).dtype is torch.bfloat16
    assert (x @ y).dtype is torch.float32 and not torch.is_autocast_enabled("cpu")


def test_an_error_inside_leaves_the_block(both: Any) -> None:
    with pytest.raises(KeyError), torch.autocast("cpu"):
        raise KeyError
    assert (both[0] @ both[1]).dtype is torch.float32


def test_it_decorates_functions(both: Any) -> None:
    @torch.autocast("cpu", dtype=torch.float16)
    def product(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x @ y

    assert product(*both).dtype is torch.float16
    assert product.__name__ == "product"


def test_another_device_is_not_touched(both: Any) -> None:
    torch.set_autocast_enabled("cuda", True)
    try:
        assert (both[0] @ both[1]).dtype is torch.float32
    finally:
        torch.set_autocast_enabled("cuda", False)


@pytest.mark.skipif(torch.cuda.is_available(), reason="speaks of a machine without a GPU")
def test_without_a_gpu_its_autocast_warns_and_does_nothing(both: Any) -> None:
    with pytest.warns(UserWarning, match="CUDA is not available"):
        block = torch.autocast("cuda", dtype=torch.float16)
    with block:
        assert (both[0] @ both[1]).dtype is torch.float32
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.cuda.amp.autocast():
            assert not torch.is_autocast_enabled()
        assert not torch.cuda.amp.GradScaler().is_enabled()


def test_a_dtype_that_is_not_lower_warns_and_disables(both: Any) -> None:
    with pytest.warns(UserWarning, match="target dtype is not supported"), torch.autocast("cpu", torch.float64):
        assert (both[0] @ both[1]).dtype is torch.float32


def test_errors_name_the_device() -> None:
    with pytest.raises(RuntimeError, match=r"Expected one of cpu, cuda, .* at start of device string: toaster"):
        torch.autocast("toaster")
    with pytest.raises(ValueError, match="`device_type` of type `str`"):
        torch.autocast(torch.device("cpu"))  # type: ignore[arg-type]  # what a script may write


def test_gradients_have_their_parameters_dtype() -> None:
    layer = nn.Linear(4, 3)
    with torch.autocast("cpu"):
        loss = layer(torch.randn(2, 4)).sum()
    loss.backward()
    assert loss.dtype is torch.bfloat16
    assert layer.weight.grad is not None and layer.weight.grad.dtype is torch.float32


def test_a_parameter_is_cast_once_a_block() -> None:
    layer = nn.Linear(4, 4, bias=False)
    with torch.autocast("cpu"):
        nodes = [layer(torch.randn(2, 4)).grad_fn.next_functions[1][0].next_functions[0][0] for _ in range(2)]
    assert nodes[0] is nodes[1] and nodes[0].name() == "ToCopyBackward0"
    with torch.autocast("cpu", cache_enabled=False):
        nodes = [layer(torch.randn(2, 4)).grad_fn.next_functions[1][0].next_functions[0][0] for _ in range(2)]
    assert nodes[0] is not nodes[1]


def test_a_cast_made_without_grad_is_not_used_with_it() -> None:
    layer = nn.Linear(4, 4)
    with torch.autocast("cpu"):
        with torch.no_grad():
            layer(torch.randn(2, 4))
        layer(torch.randn(2, 4)).sum().backward()
    assert layer.weight.grad is not None


def test_a_changed_parameter_is_cast_anew() -> None:
    layer = nn.Linear(2, 2, bias=False)
    with torch.autocast("cpu"):
        layer(torch.ones(1, 2))
        with torch.no_grad():
            layer.weight.fill_(3.0)
        assert layer(torch.ones(1, 2)).tolist() == [[6.0, 6.0]]


def test_custom_functions_say_what_they_take() -> None:
    seen: dict[str, Any] = {}

    class Product(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
        def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            seen["forward"] = (x.dtype, torch.is_autocast_enabled("cpu"))
            ctx.save_for_backward(x, y)
            return x @ y

        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            x, y = ctx.saved_tensors
            seen["backward"] = torch.is_autocast_enabled("cpu")
            return gradient @ y.T, x.T @ gradient

    x = torch.randn(2, 2).bfloat16().requires_grad_()
    with torch.autocast("cpu"):
        result = Product.apply(x, torch.randn(2, 2).bfloat16())
        result.sum().backward()
    assert result.dtype is torch.float32
    assert seen == {"forward": (torch.float32, False), "backward": False}


def test_custom_backward_runs_as_forward_did() -> None:
    seen: list[bool] = []

    class Same(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu")
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 1

        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            seen.append(torch.is_autocast_enabled("cpu"))
            return gradient

    x = torch.randn(2, requires_grad=True)
    with torch.autocast("cpu"):
        inside = Same.apply(x).sum()
    inside.backward()
    Same.apply(x).sum().backward()
    assert seen == [True, False]


def test_the_cpu_has_the_old_names_too(both: Any) -> None:
    with pytest.warns(FutureWarning, match=r"torch\.amp\.autocast\('cpu', args\.\.\.\)"):
        block = torch.cpu.amp.autocast()
    with block:
        assert (both[0] @ both[1]).dtype is torch.bfloat16
    with pytest.warns(FutureWarning, match=r"torch\.cpu\.amp\.GradScaler\(args\.\.\.\)` is deprecated"):
        assert torch.cpu.amp.GradScaler().is_enabled()


def test_the_names_of_one_device_warn_of_those_that_take_it() -> None:
    for call, words in (
        (torch.is_autocast_cpu_enabled, "torch.is_autocast_cpu_enabled() is deprecated. Please use "
         "torch.is_autocast_enabled('cpu') instead."),
        (torch.get_autocast_gpu_dtype, "torch.get_autocast_gpu_dtype() is deprecated. Please use "
         "torch.get_autocast_dtype('cuda') instead."),
        (lambda: torch.set_autocast_xla_enabled(False), "torch.set_autocast_xla_enabled(enabled) is deprecated. Please "
         "use torch.set_autocast_enabled('xla', enabled) instead."),
        (lambda: torch.set_autocast_cpu_dtype(torch.bfloat16), "torch.set_autocast_cpu_dtype(dtype) is deprecated. "
         "Please use torch.set_autocast_dtype('cpu', dtype) instead."),
    ):  # fmt: skip
        with pytest.warns(DeprecationWarning, match=f"^{re.escape(words)}$"):
            call()
