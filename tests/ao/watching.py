"""What observers and fake quantisation say of known tensors, recorded in torch and compared in funcgrad."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

from tests.ao.models import numbers

OBSERVERS = (
    "MinMaxObserver", "MovingAverageMinMaxObserver", "PerChannelMinMaxObserver",
    "MovingAveragePerChannelMinMaxObserver",
)  # fmt: skip
SCHEMES = (
    "per_tensor_affine", "per_tensor_symmetric", "per_channel_affine", "per_channel_symmetric",
    "per_channel_affine_float_qparams",
)  # fmt: skip
DTYPES = ("qint8", "quint8", "int8", "qint32", "uint16")
OPTIONS: tuple[dict[str, Any], ...] = (
    {}, {"reduce_range": True}, {"quant_min": 0, "quant_max": 15}, {"quant_min": -8, "quant_max": 7, "eps": 0.5},
    {"is_dynamic": True}, {"quant_min": 1, "quant_max": 3}, {"quant_min": -300, "quant_max": 300},
)  # fmt: skip
FAKES = (
    "default_fake_quant", "default_weight_fake_quant", "default_dynamic_fake_quant",
    "default_per_channel_weight_fake_quant", "default_embedding_fake_quant",
    "default_fixed_qparams_range_neg1to1_fake_quant", "default_fixed_qparams_range_0to1_fake_quant",
)  # fmt: skip


def outcomes(torch: Any) -> dict[str, Any]:
    """Return by name what each observer and each fake quantisation says."""
    found: dict[str, Any] = {}
    for name, scheme, dtype, options in itertools.product(OBSERVERS, SCHEMES, DTYPES, OPTIONS):
        found[f"{name} {scheme} {dtype} {options}"] = told(lambda c=(name, scheme, dtype, options): _watched(torch, *c))
    for name in FAKES:
        found[name] = told(lambda name=name: _rounded(torch, name))
    return found


def told(ask: Callable[[], Any]) -> list[Any]:
    """Return what a call warns of, and what it gives or raises."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            outcome = ask()
        except (AssertionError, NotImplementedError, RuntimeError) as error:
            outcome = [type(error).__name__, str(error)]
    return [sorted({str(warning.message) for warning in warned}), outcome]


def _watched(torch: Any, name: str, scheme: str, dtype: str, options: dict[str, Any]) -> list[Any]:
    observer = getattr(torch.ao.quantization.observer, name)
    observer = observer(dtype=getattr(torch, dtype), qscheme=getattr(torch, scheme), **options)
    said = [_listed(observer.calculate_qparams())]
    for seed in (1, 2):
        observer(numbers(torch, seed, 4, 3, 5))
        said.append(_listed(observer.calculate_qparams()))
    copy = type(observer)(dtype=observer.dtype, qscheme=observer.qscheme)
    copy.load_state_dict(observer.state_dict())
    return [*said, _listed(copy.calculate_qparams()), observer.quant_min, observer.quant_max]


def _rounded(torch: Any, name: str) -> list[Any]:
    fake = getattr(torch.ao.quantization.fake_quantize, name)()
    x, y = (numbers(torch, seed, 4, 3, 5) for seed in (1, 2))
    found = [fake(x), fake(y * 2), fake.scale, fake.zero_point]
    fake.disable_observer()
    found += [fake(y * 4), fake.scale]
    fake.disable_fake_quant()
    found.append(fake(x))
    fake.apply(torch.ao.quantization.fake_quantize.enable_fake_quant)
    leaf = (x * 9).requires_grad_()
    rounded = fake(leaf)
    rounded.sum().backward()
    names = [*fake.state_dict(), type(rounded.grad_fn).__name__]
    return [*_listed([*found, rounded.detach(), leaf.grad]), *names]


def _listed(tensors: Any) -> list[Any]:
    return [[str(x.dtype), list(x.shape), x.flatten().tolist()] for x in tensors]
