"""Calls under autocast, and training with it, for torch and for funcgrad alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Call = Callable[[Any, Any, Any], Any]  # torch or funcgrad, a float32 tensor (4, 3, 8, 8), the same in bfloat16

CALLS: dict[str, Call] = {
    "matmul": lambda t, x, b: x @ x,
    "matmul with a vector": lambda t, x, b: x[0, 0] @ x[0, 0, 0],
    "mv": lambda t, x, b: t.mv(x[0, 0], x[0, 0, 0]),
    "dot": lambda t, x, b: t.dot(x[0, 0, 0], x[0, 0, 0]),
    "einsum": lambda t, x, b: t.einsum("bchw,bchk->bcwk", x, x),
    "einsum of one tensor": lambda t, x, b: t.einsum("bchw->bc", x),
    "einsum that multiplies number by number": lambda t, x, b: t.einsum("bchw,bchw->bchw", x, x),
    "outer einsum": lambda t, x, b: t.einsum("..., f -> ... f", t.arange(3), x[0, 0, 0]),
    "addmm": lambda t, x, b: t.addmm(x[0, 0], x[0, 0], x[0, 0]),
    "addmv": lambda t, x, b: t.addmv(x[0, 0, 0], x[0, 0], x[0, 0, 0]),
    "addr": lambda t, x, b: t.addr(x[0, 0], x[0, 0, 0], x[0, 0, 0]),
    "baddbmm": lambda t, x, b: t.baddbmm(x[0], x[0], x[0]),
    "in place": lambda t, x, b: x[0, 0].clone().addmm_(x[0, 0], x[0, 0]),
    "float64": lambda t, x, b: x[0, 0].double() @ x[0, 0].double(),
    "int64": lambda t, x, b: x[0, 0].long() @ x[0, 0].long(),
    "matrix_power": lambda t, x, b: t.linalg.matrix_power(x[0, 0], 3),
    "kron": lambda t, x, b: t.kron(x[0, 0], x[0, 0]),
    "vecdot": lambda t, x, b: t.linalg.vecdot(x, x),
    "conv2d": lambda t, x, b: t.nn.functional.conv2d(x, x),
    "prelu": lambda t, x, b: t.nn.PReLU()(b),
    "attention": lambda t, x, b: t.nn.functional.scaled_dot_product_attention(x, x, x),
    "bilinear": lambda t, x, b: t.nn.Bilinear(8, 8, 5)(x, x),
    "LSTM": lambda t, x, b: t.nn.LSTM(8, 5)(x[0]),
    "GRU": lambda t, x, b: t.nn.GRU(8, 5)(x[0]),
    "RNN": lambda t, x, b: t.nn.RNN(8, 5)(x[0]),
    "LSTMCell": lambda t, x, b: t.nn.LSTMCell(8, 5)(x[0, 0]),
    "GRUCell": lambda t, x, b: t.nn.GRUCell(8, 5)(x[0, 0]),
    "GRU of bfloat16": lambda t, x, b: t.nn.GRU(8, 5, 2, bidirectional=True)(t.nn.Linear(8, 8)(x[0])),
    "GRU of bfloat16 and float32": lambda t, x, b: t.nn.GRU(8, 5)(x[0].bfloat16(), t.zeros(1, x.shape[2], 5)),
    "GRU from bfloat16": lambda t, x, b: t.nn.GRU(8, 5)(x[0], t.zeros(1, x.shape[2], 5).bfloat16()),
    "LSTM of bfloat16": lambda t, x, b: t.nn.LSTM(8, 5)(x[0].bfloat16()),
    "RNN of float16": lambda t, x, b: t.nn.RNN(8, 5)(x[0].half()),
    "packed LSTM": lambda t, x, b: t.nn.LSTM(8, 5)(t.nn.utils.rnn.pack_sequence([x[0, 0], x[0, 0, :3]]))[0].data,
    "LSTMCell of bfloat16": lambda t, x, b: t.nn.LSTMCell(8, 5)(x[0, 0].bfloat16()),
    "GRUCell of bfloat16": lambda t, x, b: t.nn.GRUCell(8, 5)(x[0, 0].bfloat16()),
    "RNNCell": lambda t, x, b: t.nn.RNNCell(8, 5)(x[0, 0]),
    "MultiheadAttention": lambda t, x, b: t.nn.MultiheadAttention(8, 2)(x[0], x[0], x[0]),
    "TransformerEncoderLayer": lambda t, x, b: t.nn.TransformerEncoderLayer(8, 2).eval()(x[0]),
    "LayerNorm": lambda t, x, b: t.nn.LayerNorm(8)(b),
    "BatchNorm2d": lambda t, x, b: t.nn.BatchNorm2d(3)(b),
    "GroupNorm": lambda t, x, b: t.nn.GroupNorm(3, 3)(b),
    "InstanceNorm2d": lambda t, x, b: t.nn.InstanceNorm2d(3, affine=True)(b),
    "softmax": lambda t, x, b: b.softmax(-1),
    "log_softmax": lambda t, x, b: t.nn.functional.log_softmax(b, -1),
    "sum": lambda t, x, b: b.sum(),
    "sum as float64": lambda t, x, b: b.sum(dtype=t.float64),
    "prod": lambda t, x, b: b.prod(),
    "mean": lambda t, x, b: b.mean(),
    "exp": lambda t, x, b: b.exp(),
    "pow": lambda t, x, b: b**2,
    "norm": lambda t, x, b: b.norm(),
    "cdist": lambda t, x, b: t.cdist(b, b),
    "cat": lambda t, x, b: t.cat([x, b]),
    "stack": lambda t, x, b: t.stack([b, b]),
    "add": lambda t, x, b: x + b,
    "cross_entropy": lambda t, x, b: t.nn.functional.cross_entropy(b[0, 0], t.zeros(8).long()),
    "nll_loss": lambda t, x, b: t.nn.functional.nll_loss(b[0, 0], t.zeros(8).long()),
    "mse_loss": lambda t, x, b: t.nn.functional.mse_loss(b, b + 1),
    "smooth_l1_loss": lambda t, x, b: t.nn.functional.smooth_l1_loss(b, b + 1),
    "binary_cross_entropy": lambda t, x, b: t.nn.functional.binary_cross_entropy(b.sigmoid(), b.sigmoid()),
    "with_logits": lambda t, x, b: t.nn.functional.binary_cross_entropy_with_logits(b, b),
    "gaussian_nll_loss": lambda t, x, b: t.nn.functional.gaussian_nll_loss(b, b, b.abs() + 1),
    "triplet_margin_loss": lambda t, x, b: t.nn.functional.triplet_margin_loss(b, b, b),
    "embedding": lambda t, x, b: t.nn.Embedding(5, 4)(t.zeros(3).long()),
    "gelu": lambda t, x, b: t.nn.functional.gelu(b),
    "max_pool2d": lambda t, x, b: t.nn.functional.max_pool2d(b, 2),
    "avg_pool3d": lambda t, x, b: t.nn.functional.avg_pool3d(b, 2),
    "interpolate": lambda t, x, b: t.nn.functional.interpolate(b, scale_factor=2),
    "reflection": lambda t, x, b: t.nn.functional.pad(b, (1, 1, 1, 1), mode="reflect"),
    "zeros around": lambda t, x, b: t.nn.functional.pad(b, (1, 1)),
    "grid_sample": lambda t, x, b: t.nn.functional.grid_sample(b, t.zeros(4, 2, 2, 2), align_corners=False),
    "fft": lambda t, x, b: t.fft.fft(b),
    "inverse": lambda t, x, b: t.linalg.inv(b[0, 0]),
    "quantile": lambda t, x, b: t.quantile(b, 0.5),
    "trace": lambda t, x, b: b[0, 0].trace(),
}


def called(torch: Any, name: str) -> Any:
    """Return the (first) result of a call under autocast to bfloat16 on the CPU."""
    torch.manual_seed(0)
    x = torch.randn(4, 3, 8, 8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        result = CALLS[name](torch, x, x.bfloat16())
    while isinstance(result, tuple):
        result = result[0]
    return result


def losses(torch: Any, kind: str, dtype: str, steps: int = 12) -> np.ndarray[Any, Any]:
    """Train a small network ("mlp" or "conv") under autocast; return the losses."""
    nn = torch.nn
    torch.manual_seed(0)
    if kind == "conv":
        model = nn.Sequential(
            nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3), nn.GroupNorm(2, 8),
            nn.GELU(), nn.Flatten(), nn.Linear(8 * 16, 10),
        )  # fmt: skip
        x = torch.randn(16, 1, 14, 14)
    else:
        model = nn.Sequential(
            nn.Linear(20, 64), nn.LayerNorm(64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 10)
        )  # fmt: skip
        x = torch.randn(16, 20)
    y = torch.randint(0, 10, (16,))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    found = []
    for _ in range(steps):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=getattr(torch, dtype)):
            scores = model(x)
            loss = nn.functional.cross_entropy(scores, y)
        assert scores.dtype is getattr(torch, dtype) and loss.dtype is torch.float32
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return np.array(found)


OPTIMIZERS: dict[str, tuple[str, dict[str, Any]]] = {
    "Adam": ("Adam", {}), "SGD": ("SGD", {"lr": 0.1}), "momentum": ("SGD", {"lr": 0.1, "momentum": 0.9}),
    "dampening": ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.5}), "amsgrad": ("AdamW", {"amsgrad": True}),
    "RMSprop": ("RMSprop", {}), "Rprop": ("Rprop", {}), "ASGD": ("ASGD", {}), "Adafactor": ("Adafactor", {}),
}  # fmt: skip
OVERFLOWS = {"none": (), "the first": (0,), "several": (0, 1, 4)}


def scaled(torch: Any, name: str, overflows: tuple[int, ...], steps: int = 8) -> dict[str, list[Any]]:
    """Train a linear map with a GradScaler, the loss infinite in some steps; return weights and scales."""
    kind, options = OPTIMIZERS[name]
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 3)
    optimizer = getattr(torch.optim, kind)(model.parameters(), **options)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=3)
    x = torch.randn(8, 4)
    found: dict[str, list[Any]] = {"weights": [], "scales": []}
    for step in range(steps):
        optimizer.zero_grad()
        loss = (model(x) ** 2).mean()
        scaler.scale(loss * float("inf") if step in overflows else loss).backward()
        if step % 2:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        found["weights"].append(model.weight.detach().numpy().ravel().tolist())
        found["scales"].append([scaler.get_scale(), scaler._get_growth_tracker()])
    return found
