"""What torch gives, or refuses, for infinite and undefined numbers, truth values and complex numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad

EXTREME = [float("inf"), float("-inf"), float("nan"), 300.0, -1.0, 256.5, 3e9, -3e9, 1e20, -200.0, 0.0, -0.0]


def _x(t: Any, dtype: str = "float32") -> Any:
    return t.tensor(EXTREME).to(getattr(t, dtype)) * 1


def _cast(source: str, target: str) -> Callable[[Any], Any]:
    return lambda t: _x(t, source).to(getattr(t, target))


def _loss(name: str, *targets: float) -> Callable[[Any], Any]:
    def call(t: Any) -> Any:
        x = _x(t)
        rows = {"triplet_margin_loss": (x[:, None], 2 * x[:, None], x[:, None]),
                "cosine_embedding_loss": (x[:, None], x[:, None], -t.ones(len(x)))}  # fmt: skip
        given = rows.get(name, (x, 2 * x, t.ones(len(x))))
        return t.isnan(getattr(t.nn.functional, name)(*given, reduction="none"))

    return call


def _of_bool(name: str, *others: Any) -> Callable[[Any], Any]:
    return lambda t: getattr(t.tensor([True, False]), name)(*others)


def _of_bools(name: str) -> Callable[[Any], Any]:
    return lambda t: getattr(t, name)(t.tensor([True, False]), t.tensor([True, True]))


def _of_complex(name: str, *others: Any) -> Callable[[Any], Any]:
    return lambda t: getattr(t, name)(t.tensor([1 + 1j, -1j]), *others)


CASES: dict[str, Callable[[Any], Any]] = {
    **{f"{source} to {target}": _cast(source, target)
       for source in ("float32", "float64", "bfloat16", "float16")
       for target in ("uint8", "int8", "int16", "int32", "int64", "bool")},
    **{name: _loss(name) for name in ("margin_ranking_loss", "triplet_margin_loss", "cosine_embedding_loss")},
    "complex to bool": lambda t: t.tensor([1j, 0j, 1 + 0j]).bool(),
    "heaviside": lambda t: t.heaviside(_x(t), t.tensor(0.5)),
    "angle": lambda t: t.angle(_x(t)),
    "angle of zeros": lambda t: t.angle(t.complex(t.tensor([0.0, -0.0, -0.0]), t.tensor([0.0, 0.0, -0.0]))),
    "interpolate bytes": lambda t: t.nn.functional.interpolate(
        ((t.arange(70) * 37) % 256).to(t.uint8).reshape(1, 2, 5, 7), (11, 4), mode="bilinear"
    ),
    **{f"{name} of truth values": _of_bools(name) for name in ("floor_divide", "remainder", "fmod", "pow", "mul")},
    **{f"{name} of truth values": _of_bool(name) for name in ("argmax", "argmin", "median", "abs", "sum", "cumsum_")},
    "topk of truth values": _of_bool("topk", 1),
    "kthvalue of truth values": _of_bool("kthvalue", 1),
    "relu6 of truth values": lambda t: t.nn.functional.relu6(t.tensor([True])),
    "gcd of floats": lambda t: t.gcd(t.ones(1), t.ones(1)),
    **{f"{name} of complex numbers": _of_complex(name) for name in ("relu",)},
    **{f"{name} of complex numbers": _of_complex(name, 2.0) for name in ("clamp", "floor_divide", "remainder", "mul")},
    **{f"{name} of complex numbers": lambda t, name=name: getattr(t, name)(t.tensor([1j]), t.tensor([1j]))
       for name in ("maximum", "minimum", "fmax", "fmin", "atan2")},
}  # fmt: skip


@pytest.mark.parity
def test_extreme_numbers_and_dtypes_give_what_torch_gives() -> None:
    torch = pytest.importorskip("torch")
    ours = {name: _outcome(funcgrad, case) for name, case in CASES.items()}
    different = {}
    for name, case in CASES.items():
        their, our = _outcome(torch, case), ours[name]
        if isinstance(their, type):
            same = isinstance(our, type) and issubclass(our, their)
        else:
            same = (
                not isinstance(our, type)
                and our.dtype == their.dtype
                and np.array_equal(our, their, equal_nan=our.dtype.kind in "fc")
            )
        if not same:
            different[name] = (our, their)
    assert not different


def _outcome(t: Any, case: Callable[[Any], Any]) -> Any:
    try:
        return case(t).numpy()
    except Exception as error:  # what torch raises is what counts
        return type(error)


def test_a_lost_number_shows_in_the_loss() -> None:
    x = funcgrad.tensor([float("nan")])
    loss = funcgrad.nn.functional.margin_ranking_loss(x, x, funcgrad.ones(1))
    assert np.isnan(loss.item())
    assert (funcgrad.tensor([-1.0, 256.5]).bfloat16() * 1).to(funcgrad.uint8).tolist() == [255, 0]


@pytest.mark.parametrize(
    ("kind", "times", "over", "gradient"),
    [("bfloat16", [0.11279296875, 1.6484375], [11.25, 165.0], 0.10009765625),
     ("float16", [0.11260986328125, 1.6513671875], [11.2421875, 164.875], 0.10009765625)],
)  # fmt: skip
def test_a_number_is_not_rounded_to_16_bits_before_it_multiplies(
    kind: str, times: list[float], over: list[float], gradient: float
) -> None:
    x = funcgrad.tensor([1.125, 16.5], dtype=getattr(funcgrad, kind), requires_grad=True)
    for factor in (0.1001, funcgrad.tensor(0.1001)):
        assert (x * factor).tolist() == (factor * x).tolist() == times
        assert (x / factor).tolist() == over
    (x * 0.1001).sum().backward()
    assert x.grad is not None and x.grad.dtype == x.dtype and x.grad.tolist() == [gradient] * 2


def test_the_slope_of_sinc_is_exact_near_zero() -> None:
    x = funcgrad.tensor([0.0, 1e-38, 1e-20, 1e-4, 0.05, 0.2, 1.0], requires_grad=True)
    funcgrad.sinc(x).sum().backward()
    wide = np.pi * x.detach().numpy().astype(np.float64)
    exact = np.pi * np.where(wide < 0.05, -wide / 3 + wide**3 / 30, 0)
    far = wide >= 0.05
    exact[far] = np.pi * (np.cos(wide[far]) / wide[far] - np.sin(wide[far]) / wide[far] ** 2)
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), exact, rtol=2e-5, atol=1e-37)  # which some of XLA's versions round to 0
    assert not np.signbit(x.grad.numpy()[0])


def test_a_quantile_between_an_infinity_and_a_number_is_the_infinity() -> None:
    x = funcgrad.tensor([3.0, -np.inf])
    assert funcgrad.quantile(x, 0.5).item() == -np.inf
    assert funcgrad.quantile(-x, 0.75).isnan()
    assert funcgrad.quantile(funcgrad.tensor([1.0, 2.0, 4.0]), funcgrad.tensor([0.25, 0.75])).tolist() == [1.5, 3.0]


def test_incomplete_gamma_functions_have_limits_for_an_infinite_shape() -> None:
    a, x = funcgrad.tensor([np.inf, 2.0]), funcgrad.tensor([2.0, np.inf])
    assert funcgrad.igamma(a, x).tolist() == [0, 1]
    assert funcgrad.igammac(a, x).tolist() == [1, 0]


def test_integers_are_raised_to_large_powers() -> None:
    base, power = funcgrad.tensor([2, -2, 1, 3, -1, 0, -1]), funcgrad.tensor([64, 100, 70, 65, 2**40 + 1, 99, 2**33])
    expected = [0, 0, 1, pow(3, 65, 2**64) - 2**64 * (pow(3, 65, 2**64) >= 2**63), -1, 0, 1]
    assert (base**power).tolist() == expected
