"""With torch at hand: every module of torch's own tests (module_db), in training and in evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import jax
import numpy as np
import pytest

import funcgrad
from funcgrad import nn
from tests.databases import Holds, chosen
from tests.nn.running import flat

pytestmark = pytest.mark.parity

torch = pytest.importorskip("torch", minversion="2.13")
pytest.importorskip("expecttest", reason="torch's sample database imports it")
module_db = pytest.importorskip("torch.testing._internal.common_modules").module_db

RUNS = [(info, mode) for info in module_db for mode in ((True, False) if info.train_and_eval_differ else (True,))]
SAMPLES = 3  # an entry and mode, spread over all that torch has; FUNCGRAD_TEST_ALL=1 takes every one


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
    if isinstance(value, torch.nn.LinearCrossEntropyOptions):
        return nn.LinearCrossEntropyOptions(**{f.name: _ours(getattr(value, f.name)) for f in fields(value)})
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
    raise AssertionError(f"no translation of a {name} among the arguments")


def _gradients(results: Any, module: Any, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Differentiate the results' sum, weighted at random; return the gradients of parameters and arguments."""
    floats = [r for r in flat(results) if r.is_floating_point() and r.requires_grad]
    if floats:
        make = torch.tensor if isinstance(floats[0], torch.Tensor) else funcgrad.tensor
        weights = [np.random.RandomState(0).standard_normal(tuple(r.shape)).astype(np.float32) for r in floats]
        sum((r * make(weight)).sum() for r, weight in zip(floats, weights, strict=True)).backward()
    tensors = {f"{i}": x for i, x in enumerate([*args, *kwargs.values()]) if hasattr(x, "grad")}
    tensors.update(module.named_parameters())
    return _numbers({name: x.grad for name, x in tensors.items() if x.is_leaf and x.grad is not None})


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


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("info", "training"), RUNS, ids=[f"{i.name}-{'train' if t else 'eval'}" for i, t in RUNS])
def test_module_is_torchs(info: Any, training: bool, record_property: Any) -> None:
    torch.manual_seed(1)
    dtype = torch.float64 if "FractionalMaxPool" in info.name else torch.float32  # torch's samples are float64 there
    given = info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=True, training=training)
    with Holds(record_property, "module_db", info.name, ("forward", "parameter gradients", "state_dict")) as holds:
        for place in chosen(len(given), SAMPLES):
            _compare(f"{info.name} {place}", info, given[place], training, holds)


def _compare(where: str, info: Any, one: Any, training: bool, holds: Holds) -> None:
    made, forward = one.constructor_input, one.forward_input
    kind = getattr(nn, info.module_cls.__name__)
    our_args, our_kwargs = _ours(list(made.args)), _ours(made.kwargs)
    torch.manual_seed(5)
    funcgrad.manual_seed(5)
    theirs, ours = info.module_cls(*made.args, **made.kwargs), kind(*our_args, **our_kwargs)
    with holds.judging("state_dict"):
        assert repr(ours) == repr(theirs), where
        _alike(where, _numbers(ours.state_dict()), _numbers(theirs.state_dict()))
    theirs.train(training), ours.train(training)
    if forward is None:
        return
    args, kwargs = _ours(list(forward.args)), _ours(forward.kwargs)
    with holds.judging("forward"):
        their_results, our_results = theirs(*forward.args, **forward.kwargs), ours(*args, **kwargs)
        results = [{f"{i}": r for i, r in enumerate(flat(results))} for results in (our_results, their_results)]
        _alike(where, *map(_numbers, results))
        _alike(where, *(_numbers(dict(module.named_buffers())) for module in (ours, theirs)))
    with holds.judging("parameter gradients"):
        found = _gradients(our_results, ours, args, kwargs)
        _alike(where, found, _gradients(their_results, theirs, list(forward.args), forward.kwargs))


def _numbers(tensors: dict[str, Any]) -> dict[str, Any]:
    kept = {name: x for name, x in tensors.items() if hasattr(x, "detach") and "Uninit" not in type(x).__name__}
    return {name: np.array(x.detach().numpy()) for name, x in kept.items()}


def _alike(where: str, found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert sorted(found) == sorted(expected), where
    for key, array in expected.items():
        assert found[key].dtype == array.dtype and found[key].shape == array.shape, f"{where}: {key}"
        array = np.where(np.isnan(array), found[key], array)  # where torch has no number, any will do
        noise = 2e-5 * max(1.0, float(np.nanmax(np.abs(array), initial=0)))  # sums of large terms that cancel
        np.testing.assert_allclose(found[key], array, rtol=1e-4, atol=noise, err_msg=f"{where}: {key}")
