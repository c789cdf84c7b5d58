"""Cases of `test_host` in complex numbers: Fourier transforms, and what is done to spectra, infinities included."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Case = tuple[Callable[..., Any], tuple[Any, ...]]
ODD = (0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -2.5, 1e-30, 1e30)


def cases() -> Iterator[tuple[str, Case]]:
    """Yield the names of cases, functions and arguments to compute them with."""
    for dtype, kind in ((np.float32, np.complex64), (np.float64, np.complex128)):
        real, imaginary = np.meshgrid(np.array(ODD, dtype), np.array(ODD, dtype))
        z = np.empty(real.shape, kind)
        z.real, z.imag = real, imaginary
        for name, function in OF_EACH.items():
            yield f"complex {name} {dtype.__name__}", (function, (z,))
        for name, function in OF_PAIRS.items():
            yield f"complex {name} {dtype.__name__}", (function, (z.reshape(-1, 1), z.reshape(1, -1)))
        yield f"complex parts {dtype.__name__}", (lambda x, y: (lax.complex(x, y), lax.conj(x)), (real, imaginary))
        for shape in ((1,), (8,), (3, 7), (2, 3, 10)):
            x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
            yield f"spectra {shape} {dtype.__name__}", (spectra, (x,))


OF_EACH: dict[str, Callable[[Any], Any]] = {
    "moved": lambda z: (z.T, z[2:, ::3], z[::-1], jnp.pad(z, 1), jnp.concatenate([z, z], 1), z.reshape(3, 27)),
    "taken apart": lambda z: (z.real, z.imag, z.conj(), -z, jnp.where(z.real > 0, z, 0)),
    "chosen": lambda z: (z[jnp.array([3, 1])], lax.dynamic_slice(z, (1, 2), (3, 3)), jnp.broadcast_to(z[0], (2, 9))),
    "made": lambda z: (
        z.real.astype(z.dtype),
        lax.stop_gradient(z),
        z[:, 5:7].sum(1),
        jax.grad(of_size)(z.real[0, 5:7]),
    ),
}
OF_PAIRS: dict[str, Callable[[Any, Any], Any]] = {
    "sums": lambda x, y: (x + y, x - y), "equal": lambda x, y: (x == y, x != y),
}  # fmt: skip


def of_size(x: Any) -> Any:
    """Return a number whose gradient goes through complex numbers."""
    return (lax.complex(x, x) * (1 + 2j)).real.sum()


def spectra(x: Any) -> list[Any]:
    """Transform to and fro, along one dimension and along all, cut off and filled up with zeros."""
    n = x.shape[-1]
    z = jnp.fft.rfft(x)
    return [
        z, abs(z), z * z[..., :1], jnp.fft.irfft(z, n), jnp.fft.fft(x), jnp.fft.ifft(x, n + 2),
        jnp.fft.rfft(x, max(n - 2, 1)), jnp.fft.fftn(x), jnp.fft.irfftn(jnp.fft.rfftn(x), x.shape),
    ]  # fmt: skip


CASES = dict(cases())
