"""Records the schemas of aten's functions that funcgrad has: `python -m tests.ops.record_schemas` (needs torch)."""

from __future__ import annotations

import re
from pathlib import Path

import torch

import funcgrad
from funcgrad import ops

_OUT = re.compile(r"\*, .*!\) .*->")  # what is written to comes by name
WRITTEN = Path(funcgrad.__file__).parent / "dispatching" / "schemas.txt"
_KERNELS = (
    "nll_loss_forward",
    "_softmax",
    "_log_softmax",
    "_adaptive_avg_pool2d",
    "_adaptive_avg_pool3d",
    "_local_scalar_dense",
    "_scaled_dot_product_flash_attention_for_cpu",
    "_unsafe_view",
    "lift_fresh",
    "log_sigmoid_forward",
    "scalar_tensor",
    "_assert_tensor_metadata",
    "broadcast_tensors",
    "cross_entropy_loss",
    "einsum",
    "kl_div",
    "log_sigmoid",
    "mT",
    "nll_loss_nd",
    "numpy_T",
    "upsample_bicubic2d",
    "upsample_linear1d",
    "upsample_nearest3d",
    "upsample_trilinear3d",
    "im2col",
    "col2im",
    "_cdist_forward",
    "upsample_bilinear2d",
    "upsample_nearest1d",
    "upsample_nearest2d",
)
_ANSWERS = {"_assert_tensor_metadata", "_local_scalar_dense", "allclose", "equal"}  # they give numbers, or nothing


def lines() -> list[str]:
    """Return one line for each overload; "~" stands before what torch composes of other functions."""
    known = {name.removeprefix("aten::") for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")}
    names = sorted({name.partition(".")[0] for name in known})
    return [line for name in names if _is_here(name) for line in _of_function(name, known)]


def _of_function(name: str, known: set[str]) -> list[str]:
    found = []
    for overload in getattr(torch.ops.aten, name).overloads():
        of = getattr(getattr(torch.ops.aten, name), overload)
        text = str(of._schema).removeprefix("aten::")
        if (
            ("Tensor" not in text.rpartition("->")[2] and name not in _ANSWERS)
            or "Dimname" in text
            or _OUT.search(text)
        ):
            continue
        if of.name().removeprefix("aten::") not in known or overload.endswith(("hacked_twin", "out")):
            continue
        is_composed = torch._C._dispatch_has_kernel_for_dispatch_key(of.name(), "CompositeImplicitAutograd")
        found.append(f"{'~' if is_composed else ''}{text}")
    return found


def _is_here(name: str) -> bool:
    try:
        return getattr(ops.aten, name) is not None
    except AttributeError:
        return hasattr(funcgrad, name) or name in _KERNELS


def main() -> None:
    """Write the file that funcgrad reads."""
    WRITTEN.write_text("\n".join(lines()) + "\n")


if __name__ == "__main__":
    main()
