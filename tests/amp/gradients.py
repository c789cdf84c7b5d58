"""Calls whose gradients in float16 and bfloat16 torch rounds in a way of its own.

64 numbers each: torch's kernels round some of what does not fill their vectors elsewhere.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

SHAPE = (4, 16)


def _of(kind: str, *shape: int) -> Any:
    return kind, shape or SHAPE


ANY, POSITIVE, INSIDE, SHARE = _of("any"), _of("positive"), _of("inside"), _of("share")  # INSIDE: of (-1, 1)

CALLS: dict[str, tuple[str, tuple[Any, ...]]] = {
    **{name: (f"torch.{name}(x)", (ANY,)) for name in ("exp", "exp2", "tanh", "sigmoid", "erf", "erfc", "i0", "sinc")},
    **{
        name: (f"torch.{name}(x)", (POSITIVE,))
        for name in ("log2", "log10", "sqrt", "rsqrt", "reciprocal", "lgamma", "digamma", "std", "var")
    },
    **{name: (f"torch.{name}(x)", (INSIDE,)) for name in ("atanh", "erfinv")},
    **{name: (f"torch.{name}(x, y)", (ANY, ANY)) for name in ("mul", "atan2", "hypot", "logaddexp", "logaddexp2")},
    **{
        name: (f"F.{name}(x)", (ANY,))
        for name in ("gelu", "silu", "softsign", "tanhshrink", "logsigmoid", "glu", "softplus")
    },
    "prod": ("torch.prod(x)", (_of("positive", 4),)),
    "logit": ("torch.logit(x)", (SHARE,)),
    "x / y": ("x / y", (ANY, POSITIVE)),
    "x / row": ("x / y", (ANY, _of("positive", 16))),
    "3 / x": ("3 / x", (POSITIVE,)),
    "x ** 0.5": ("x ** 0.5", (POSITIVE,)),
    "2.5 ** x": ("2.5 ** x", (ANY,)),
    "x % y": ("x % y", (ANY, POSITIVE)),
    "add alpha": ("torch.add(x, y, alpha=0.3)", (ANY, ANY)),
    "sub alpha": ("torch.sub(x, y, alpha=0.3)", (ANY, ANY)),
    "lerp": ("torch.lerp(x, y, 0.3)", (ANY, ANY)),
    "lerp tensor": ("torch.lerp(x, y, z)", (ANY, ANY, SHARE)),
    "addcmul": ("torch.addcmul(x, y, z, value=0.7)", (ANY, ANY, ANY)),
    "addcdiv": ("torch.addcdiv(x, y, z, value=0.7)", (ANY, ANY, POSITIVE)),
    "outer": ("torch.outer(x, y)", (_of("any", 4), _of("any", 16))),
    "index_select": ("torch.index_select(x, 0, torch.tensor([0, 1, 1, 1, 3]))", (ANY,)),
    "prelu": ("F.prelu(x, y)", (ANY, _of("share", 16))),
    "softmax": ("torch.softmax(x, -1)", (ANY,)),
    "softmin": ("F.softmin(x, dim=-1)", (ANY,)),
    "log_softmax": ("torch.log_softmax(x, 0)", (_of("any", 3, 64),)),
    "log_softmax of rows": ("torch.log_softmax(x, -1)", (ANY,)),
    "logsumexp": ("torch.logsumexp(x, -1)", (ANY,)),
    "cross_entropy": ("F.cross_entropy(x, torch.arange(4), z.detach())", (ANY, ANY, _of("positive", 16))),
    "norm": ("x.norm(dim=-1)", (ANY,)),
    "vector_norm": ("torch.linalg.vector_norm(x)", (ANY,)),
    "layer_norm": ("F.layer_norm(x, (16,))", (ANY,)),
    "group_norm": ("F.group_norm(x, 2, y, z)", (_of("any", 2, 4, 16), _of("any", 4), _of("any", 4))),
    "batch_norm": ("F.batch_norm(x, None, None, y, z, True)", (_of("any", 4, 4, 16), _of("any", 4), _of("any", 4))),
    "mse_loss": ("F.mse_loss(x, y)", (ANY, ANY)),
    "smooth_l1_loss": ("F.smooth_l1_loss(x, y)", (ANY, ANY)),
    "binary_cross_entropy": ("F.binary_cross_entropy(x, y.detach())", (SHARE, SHARE)),
    "with_logits": ("F.binary_cross_entropy_with_logits(x, y.detach())", (ANY, SHARE)),
    "pos_weight": ("F.binary_cross_entropy_with_logits(x, y.detach(), pos_weight=z.detach())", (ANY, SHARE, POSITIVE)),
}


def pulled(torch: Any, name: str, dtype: str) -> list[np.ndarray]:
    """Return the gradients of the call's tensors in float32, with a cotangent that is random too."""
    source, made_of = CALLS[name]
    random = np.random.default_rng(zlib.crc32(name.encode()))
    kind = getattr(torch, dtype)

    def drawn(kind_of: str, shape: tuple[int, ...]) -> Any:
        low, high = {"positive": (0.2, 3), "inside": (-0.95, 0.95), "share": (0.05, 0.95)}.get(kind_of, (0, 0))
        numbers = random.uniform(low, high, shape) if high else random.standard_normal(shape)
        return torch.tensor(numbers.astype(np.float32)).to(kind)

    tensors = [drawn(*one).requires_grad_() for one in made_of]
    names = dict(zip("xyz", tensors, strict=False))
    result = eval(source, {"torch": torch, "F": torch.nn.functional, **names})
    result.backward(drawn("any", tuple(result.shape)))
    return [x.grad.float().reshape(-1).numpy() for x in tensors if x.grad is not None]


def written(gradients: list[np.ndarray], dtype: str) -> str:
    """Write numbers as the bits of a half precision, four hexadecimal digits each."""
    numbers = np.concatenate(gradients)
    bits = numbers.view(np.uint32) >> 16 if dtype == "bfloat16" else numbers.astype(np.float16).view(np.uint16)
    return bits.astype(">u2").tobytes().hex()


def read(text: str, dtype: str) -> np.ndarray:
    """Read what `written` wrote."""
    bits = np.frombuffer(bytes.fromhex(text), ">u2").astype(np.uint16)
    if dtype == "bfloat16":
        return (bits.astype(np.uint32) << 16).view(np.float32)
    return bits.view(np.float16).astype(np.float32)
