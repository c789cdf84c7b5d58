"""torch.utils.cpp_extension: named so that scripts can import it; there is no C++ library of torch to build against."""

from __future__ import annotations

from typing import Any

CUDA_HOME = ROCM_HOME = None


def load(*_: Any, **__: Any) -> Any:
    """Raise RuntimeError, and say what can be done instead."""
    raise RuntimeError(
        "torch.utils.cpp_extension: funcgrad has no C++ library to build extensions against. Write the op with torch "
        "functions (they become one XLA program), or as a JAX kernel (Pallas) called through funcgrad.from_jax."
    )


load_inline = CppExtension = CUDAExtension = BuildExtension = load
