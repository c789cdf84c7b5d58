"""With torch at hand: every input of torch's own module tests, in training and in evaluation."""

from __future__ import annotations

import sys
import types
import unittest
import warnings
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest

import funcgrad
from funcgrad import nn
from tests.nn.running import flat

pytestmark = pytest.mark.parity

if "expecttest" not in sys.modules:  # torch.testing imports it for a base class; it is not needed here
    sys.modules["expecttest"] = types.ModuleType("expecttest")
    sys.modules["expecttest"].TestCase = unittest.TestCase  # type: ignore[attr-defined]
torch = pytest.importorskip("torch", minversion="2.13")
module_db = pytest.importorskip("torch.testing._internal.common_modules").module_db

# what we leave out, and why
LEFT_OUT = {
    "LinearCrossEntropyLoss": "torch's experimental fusion of a layer and a loss, of 2.13",
    "FractionalMaxPool2d": "torch's samples are of float64 only, and it refuses them itself",
    "FractionalMaxPool3d": "torch's samples are of float64 only, and it refuses them itself",
}
INFOS = [info for info in module_db if info.module_cls.__module__.startswith("torch.nn.modules")]
RUNS = [(info, mode) for info in INFOS for mode in ((True, False) if info.train_and_eval_differ else (True,))]


@pytest.fixture(autouse=True)
def _let_go_of_programs() -> Iterator[None]:
    """Each test compiles some dozens of programs that no other uses; thousands are too many for one process."""
    yield
    jax.clear_caches()


def _ours(value: Any) -> Any:
    """Return what stands here for a value of torch: tensors, dtypes, layers, functions, nested."""
    if isinstance(value, torch.nn.Module):
        return _like(value)
    if isinstance(value, torch.Tensor):
        made = funcgrad.tensor(value.detach().numpy()).requires_grad_(value.requires_grad)
        return made if value.is_leaf else made * 1
    if isinstance(value, torch.dtype):
        return getattr(funcgrad, str(value).removeprefix("torch."))
    if isinstance(value, dict):
        return {k: _ours(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_ours(v) for v in value)
    if callable(value) and hasattr(torch.nn.functional, getattr(value, "__name__", "")):
        return getattr(nn.functional, value.__name__)
    return value


def _like(module: Any) -> Any:
    name = type(module).__name__
    if name == "TransformerEncoderLayer":
        attention = module.self_attn
        made = nn.TransformerEncoderLayer(
            attention.embed_dim, attention.num_heads, module.linear1.out_features, module.dropout.p,
            activation=_ours(module.activation), batch_first=attention.batch_first, norm_first=module.norm_first,
            bias=attention.in_proj_bias is not None,
        )  # fmt: skip
        made.load_state_dict(_ours(dict(module.state_dict())))
        return made
    pytest.skip(f"no translation of a {name} among the arguments")


def _gradients(results: Any, module: Any, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    floats = [r for r in flat(results) if r.is_floating_point() and r.requires_grad]
    if floats:
        make = torch.tensor if isinstance(floats[0], torch.Tensor) else funcgrad.tensor
        weights = [np.random.RandomState(0).standard_normal(tuple(r.shape)).astype(np.float32) for r in floats]
        sum((r * make(weight)).sum() for r, weight in zip(floats, weights, strict=True)).backward()
    tensors = {f"{i}": x for i, x in enumerate([*args, *kwargs.values()]) if hasattr(x, "grad")}
    tensors.update(module.named_parameters())
    found = {f"grad {name}": x.grad for name, x in tensors.items() if x.is_leaf and x.grad is not None}
    found.update({f"result {i}": r for i, r in enumerate(flat(results))})
    found.update({f"buffer {name}": b for name, b in module.named_buffers()})
    return {name: np.array(x.detach().numpy()) for name, x in found.items()}


def _several_layers(nn: Any) -> Any:
    return nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.LSTM(3, 4, 2), nn.TransformerEncoderLayer(4, 2, 8), nn.PReLU(),
        nn.ModuleList([nn.Embedding(3, 2, padding_idx=0)]), nn.ParameterList([nn.Linear(1, 1).weight]),
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore")
def test_whole_modules_travel_in_files_both_ways(tmp_path: Any) -> None:
    theirs, path = _several_layers(torch.nn).eval(), str(tmp_path / "model.pt")
    torch.save(theirs, path)
    ours = funcgrad.load(path, weights_only=False)
    assert repr(ours) == repr(theirs)
    x = np.ones((2, 1, 3), np.float32)
    expected = theirs[2](torch.tensor(x))[0].detach().numpy()
    np.testing.assert_allclose(ours[2](funcgrad.tensor(x))[0].detach().numpy(), expected, rtol=1e-5, atol=1e-6)
    funcgrad.save(ours, path)
    back = torch.load(path, weights_only=False)
    assert repr(back) == repr(theirs)
    np.testing.assert_array_equal(back[2](torch.tensor(x))[0].detach().numpy(), expected)
    y = torch.ones(2, 1, 4)
    np.testing.assert_array_equal(back[3](y).detach().numpy(), theirs[3](y).detach().numpy())


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("info", "training"),
    RUNS,
    ids=[f"{i}-{info.name}-{'train' if mode else 'eval'}" for i, (info, mode) in enumerate(RUNS)],
)
def test_module_is_torchs(info: Any, training: bool) -> None:
    name = info.module_cls.__name__
    if name in LEFT_OUT:
        pytest.skip(LEFT_OUT[name])
    torch.manual_seed(1)
    given = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=True, training=training)
    for place, one in enumerate(given):
        _compare(f"{name} {place}", info, one, training)


def _compare(where: str, info: Any, one: Any, training: bool) -> None:
    made, forward = one.constructor_input, one.forward_input
    kind = getattr(nn, info.module_cls.__name__)
    our_args, our_kwargs = _ours(list(made.args)), _ours(made.kwargs)
    torch.manual_seed(5)
    funcgrad.manual_seed(5)
    theirs, ours = info.module_cls(*made.args, **made.kwargs), kind(*our_args, **our_kwargs)
    assert repr(ours) == repr(theirs), where
    assert list(ours.state_dict()) == list(theirs.state_dict()), where
    theirs.train(training), ours.train(training)
    if forward is None:
        return
    args, kwargs = _ours(list(forward.args)), _ours(forward.kwargs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        their_results, our_results = theirs(*forward.args, **forward.kwargs), ours(*args, **kwargs)
    expected = _gradients(their_results, theirs, list(forward.args), forward.kwargs)
    found = _gradients(our_results, ours, args, kwargs)
    assert sorted(found) == sorted(expected), where
    for key, array in expected.items():
        array = np.where(np.isnan(array), found[key], array)  # where torch has no number, any will do
        noise = 2e-5 * max(1.0, float(np.nanmax(np.abs(array), initial=0)))  # sums of large terms that cancel
        np.testing.assert_allclose(found[key], array, rtol=1e-4, atol=noise, err_msg=f"{where}: {key}")
