"""Samples of special functions."""

from __future__ import annotations

from tests.ops.samples import Sample, given, sample, values

_INF, _NAN = float("inf"), float("nan")


def _real(low: float = -3, high: float = 3) -> list[Sample]:
    return [
        sample(given(3, 4, low=low, high=high)),
        sample(given(6, low=low, high=high, dtype="float64")),
        sample(values([1, 2], "int64")),
    ]


def _polynomial(high: float = 1) -> list[Sample]:
    """Degrees below 0, from 0 and beyond the terms that begin the recurrence, of several inputs at once."""
    return [
        sample(given(7, low=-1, high=high, grad=False), values([-1.0, 0.0, 1.0, 2.0, 2.7, 6.0, 9.0], grad=False)),
        sample(given(3, 1, low=-1, high=high, dtype="float64", grad=False), values([1, 4], "int64")),
        sample(values([1, 2], "int64"), 3),
        sample(values([1.0], "float16", grad=False), 3).but(fails=True),
    ]


def _bessel(low: float, high: float) -> list[Sample]:
    """torch's own numbers are good to seven digits."""
    return [
        sample(given(9, low=low, high=high, grad=False)).but(rtol=1e-4, atol=2e-6),
        sample(given(9, low=low, high=high, dtype="float64", grad=False)).but(rtol=1e-5, atol=2e-6),
        sample(values([0.0, 1.0, 2.0, 30.0, _INF, -_INF, _NAN], grad=False)).but(rtol=1e-4, atol=2e-6),
        sample(values([1, 2], "int64")).but(rtol=1e-5),
        sample(values([1.0], "float16", grad=False)).but(fails=True),
    ]


SAMPLES: dict[str, list[Sample]] = {
    "special.bessel_j0": _bessel(-40, 40),
    "special.bessel_j1": _bessel(-40, 40),
    "special.bessel_y0": _bessel(-1, 40),
    "special.bessel_y1": _bessel(-1, 40),
    "special.modified_bessel_k0": _bessel(-0.5, 6),
    "special.modified_bessel_k1": _bessel(-0.5, 6),
    "special.scaled_modified_bessel_k0": _bessel(-0.5, 40),
    "special.scaled_modified_bessel_k1": _bessel(-0.5, 40),
    "special.spherical_bessel_j0": _bessel(-9, 9),
    "special.airy_ai": _bessel(-9, 9),
    "special.chebyshev_polynomial_t": _polynomial(),
    "special.chebyshev_polynomial_u": _polynomial(),
    "special.chebyshev_polynomial_v": _polynomial(),
    "special.chebyshev_polynomial_w": _polynomial(),
    "special.shifted_chebyshev_polynomial_t": _polynomial(),
    "special.shifted_chebyshev_polynomial_u": _polynomial(),
    "special.shifted_chebyshev_polynomial_v": _polynomial(),
    "special.shifted_chebyshev_polynomial_w": _polynomial(),
    "special.hermite_polynomial_h": _polynomial(3),
    "special.hermite_polynomial_he": _polynomial(3),
    "special.laguerre_polynomial_l": _polynomial(3),
    "special.legendre_polynomial_p": _polynomial(),
    "erf": [*_real(), sample(values([0.0, 10.0, -_INF]))],
    "erfc": [*_real(), sample(values([0.0, 8.0, -_INF])).but(rtol=1e-4)],
    "erfinv": [sample(given(8, low=-0.95, high=0.95)), sample(given(8, low=-0.95, high=0.95, dtype="float64"))],
    "lgamma": [*_real(0.2, 9), sample(given(6, low=-0.9, high=-0.1))],
    "digamma": [*_real(0.2, 9), sample(given(6, low=-0.9, high=-0.1)), sample(values([0.0, -0.0], grad=False))],
    "polygamma": [sample(n, given(5, low=0.5, high=4)).but(rtol=1e-4) for n in range(4)],
    ".polygamma": [sample(given(5, low=0.5, high=4), 1), sample(given(5, low=-0.9, high=-0.1), 0)],
    "mvlgamma": [sample(given(5, low=3, high=6), 2), sample(given(5, low=3, high=6, dtype="float64"), 3)],
    "igamma": [sample(given(5, low=0.5, high=4, grad=False), given(5, low=0.5, high=4))],
    "igammac": [sample(given(5, low=0.5, high=4, grad=False), given(5, low=0.5, high=4))],
    "sinc": [*_real(), sample(values([0.0, 1.0, 0.5]))],
    "i0": [*_real(), sample(values([0.0, 12.0]))],
    "special.i0e": _real(),
    "special.i1": [*_real(), sample(values([0.0, 12.0]))],
    "special.i1e": [*_real(), sample(values([0.0]))],
    "special.ndtr": _real(),
    "special.ndtri": [sample(given(8, low=0.05, high=0.95))],
    "special.log_ndtr": [*_real(), sample(values([-20.0, 9.0]))],
    "special.entr": [sample(given(8, low=0.05, high=3)), sample(values([0.0, 1.0, -1.0], grad=False))],
    "special.erfcx": [*_real(), sample(values([4.9, 5.1, 20.0, 1e4]))],
    "xlogy": [
        sample(given(2, 3), given(3, low=0.1, high=3)),
        sample(values([0.0, 1.0, 0.0, 0.0]), values([1.0, 2.0, 3.0, 0.5])),
        sample(values([0.0, 0.0, 1.0], grad=False), values([0.0, _NAN, 0.0], grad=False)),
        sample(given(3), 2.0),
        sample(2.0, given(3, low=0.1, high=3)),
    ],
    "special.xlog1py": [sample(given(2, 3), given(3, low=-0.5, high=3)), sample(given(3), 2.0)],
    "special.zeta": [sample(given(5, low=1.5, high=4, grad=False), given(5, low=0.5, high=4))],
    "heaviside": [
        sample(values([-1.0, 0.0, 2.0], grad=False), values([0.5, 0.5, 0.5], grad=False)),
        sample(given(2), given(2, dtype="int64")).but(fails=True),
    ],
    "nextafter": [sample(given(4, grad=False), given(4, grad=False))],
}
