"""What is asked of XLA beyond its defaults for some executables."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import jax

from funcgrad._program.line import Loop, Step, avals_of

_MOST_DIMENSIONS = 6
# By default sums go to a library, which has what they are of written to memory. It writes past its own where an array
# has more dimensions than that: (x * y[..., None, None]).sum(4) of x (2, 12, 11, 10, 2, 2, 2) ends the process (jax
# 0.10.2). It does not round on the way: (x.bfloat16().float() - x).sum() is 0. And the gradient of a depthwise kernel
# is a sum for each of its taps, of as many shifted copies of the image; that of BatchNorm between convolutions sums
# products as large as images. Without the library a step of MobileNet's blocks takes 0.7 to 0.5 of the time, one of a
# small ResNet 0.7, of residual blocks alone 1 to 1.1 (`python -m tests.benchmarks.options`). Products of matrices stay
# the library's one by one: with what is around them it read memory that nobody wrote (`scaled_mm` to bfloat16).
_SUMS_BY_XLA = {"xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"}
# By default x.bfloat16() * 3 is not rounded where the next instruction reads it in float32.
_ROUNDED = {"xla_allow_excess_precision": False}
# By default a GPU's products are tried in Triton too, each in many tilings: the first step of the GPT takes 39 s on an
# H200, without it 8 s, and a later one 3.7 or 4.4 ms (`python -m tests.benchmarks.steps --workloads gpt`).
_TRITON = "xla_gpu_enable_triton_gemm"
HAS_OLDER_EMITTERS = jax.__version_info__ < (0, 11)  # they compile in half the time; XLA has lost them since
# Without LLVM's optimisations, by the older emitters, in one thread: for what computes little.
QUICKLY = {"xla_backend_optimization_level": 0, "xla_cpu_parallel_codegen_split_count": 1} | (
    {"xla_cpu_use_fusion_emitters": False} if HAS_OLDER_EMITTERS else {}
)


def options_for(line: Iterable[Step | Loop]) -> dict[str, Any]:
    """Return jax.jit's `compiler_options` for a line."""
    if jax.default_backend() != "cpu":
        is_left_to_us = jax.default_backend() == "gpu" and _TRITON not in os.environ.get("XLA_FLAGS", "")
        return {_TRITON: False} if is_left_to_us else {}
    line = list(line)
    steps = list(_steps_of(line))
    is_short = any(a.dtype.is_floating_point and a.dtype.itemsize < 4 for a in avals_of(line))  # 16 bits, or 8
    has_many = any(len(a.shape) > _MOST_DIMENSIONS for a in avals_of(line))
    kinds = [kind for step in steps for kind in ("conv", "batch_norm_train") if kind in step.op.name]
    sums_images = len(set(kinds)) == 2 or any(map(_is_depthwise, steps))
    options = _SUMS_BY_XLA if has_many or is_short or sums_images else {}
    return options | _ROUNDED if is_short else options


def _steps_of(line: Iterable[Step | Loop]) -> Iterator[Step]:
    for step in line:
        if isinstance(step, Loop):
            yield from _steps_of(step.body)
        else:
            yield step


def _is_depthwise(step: Step) -> bool:
    """Tell whether an instruction is a convolution of each channel by itself, forward."""
    if not step.op.name.startswith(("conv1d", "conv2d")) or len(step.statics) < 4:
        return False
    *_, groups = step.statics
    weight = step.token[2][1]
    return groups > 1 and weight.shape[1] == 1
