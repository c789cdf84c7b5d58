"""Records files that torch writes, and what is in them: run it with torch installed to renew recorded/."""

from __future__ import annotations

import json
from collections import Counter, OrderedDict
from pathlib import Path
from typing import Any

import torch
from torch import nn

RECORDED = Path(__file__).parent / "recorded"
DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
    "float64", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2",
)  # fmt: skip


def of_every_dtype() -> dict[str, Any]:
    """Return one small tensor of each dtype."""
    values = torch.tensor([0.0, 1.0, 2.5, 96.0])
    return {name: values.to(getattr(torch, name)) for name in DTYPES}


def of_every_layout() -> dict[str, Any]:
    """Return tensors that lie in their storages in all the ways that there are."""
    base = torch.arange(24.0).reshape(2, 3, 4)
    alone = torch.arange(12.0).reshape(3, 4)
    return {
        "scalar": torch.tensor(3.5), "empty": torch.empty(0), "no_rows": torch.empty(0, 3, dtype=torch.int64),
        "base": base, "same": base, "again": base.detach(), "part": base[1:, :, ::2], "flipped": base.permute(2, 0, 1),
        "column": base[:, 1, 2], "transposed": alone.t(), "window": torch.arange(10.0)[3:7],
        "expanded": torch.tensor([[1.0], [2.0]]).expand(2, 5), "windows": torch.arange(6.0).unfold(0, 3, 1),
        "conjugate": torch.tensor([1 + 2j, 3 - 4j]).conj(), "negative": torch.tensor([1 + 2j, 3 - 4j]).conj().imag,
        "leaf": torch.ones(2, requires_grad=True), "parameter": nn.Parameter(torch.full((2, 2), 0.5)),
        "frozen": nn.Parameter(torch.zeros(3), requires_grad=False), "marked": _marked(),
    }  # fmt: skip


def of_sparse_layouts() -> dict[str, Any]:
    """Return a matrix in each of the sparse layouts."""
    meeting = torch.sparse_coo_tensor([[0, 1, 1, 0], [2, 0, 2, 2]], [3.0, 4.0, 5.0, 1.0], (2, 3))
    matrix = meeting.to_dense()
    return {
        "meeting": meeting, "coalesced": meeting.coalesce(), "csr": matrix.to_sparse_csr(),
        "csc": matrix.to_sparse_csc(), "bsr": matrix.to_sparse_bsr((1, 3)), "bsc": matrix.to_sparse_bsc((2, 1)),
    }  # fmt: skip


def containers() -> dict[str, Any]:
    """Return the plain objects that a weights-only load makes."""
    return {
        "none": None, "bools": [True, False], "ints": [0, -1, 255, 65536, -(1 << 31), 1 << 40, -(1 << 70)],
        "floats": [0.1, float("inf"), -0.0], "complex": 1 - 2j, "text": "naïve \N{SNOWMAN}", "bytes": b"\x00\xff",
        "bytearray": bytearray(b"ab"), "tuples": ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)), "set": {1, 2},
        "nested": {"a": [{"b": (None, {"c": [1.5]})}]}, "ordered": OrderedDict([("z", 1), ("a", 2)]),
        "counter": Counter("abca"), "size": torch.Size([2, 3]), "dtype": torch.bfloat16,
        "device": torch.device("cuda", 1), 3: "int key", (1, "x"): "tuple key",
    }  # fmt: skip


def training_state() -> dict[str, Any]:
    """Return the checkpoint of a small training run: model, optimizer and scheduler."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 5])
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(5, 3)).pow(2).mean().backward()
        optimizer.step()
        scheduler.step()
    states = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}
    return {"epoch": 3, "loss": 0.25, **states}


def _marked() -> nn.Parameter:
    parameter = nn.Parameter(torch.ones(1))
    parameter.no_decay = True
    return parameter


def described(found: Any) -> Any:
    """Return what JSON can say of an object: a tensor becomes its dtype, shape, need of a gradient and bytes."""
    if isinstance(found, torch.Tensor):
        plain = torch.empty(found.numel(), dtype=found.dtype).copy_(found.detach().reshape(-1))
        raw = bytes(plain.view(torch.uint8).tolist()) if found.numel() else b""
        return ["tensor", str(found.dtype), list(found.shape), found.requires_grad, raw.hex()]
    if isinstance(found, dict):
        return {str(key): described(value) for key, value in found.items()}
    if isinstance(found, (list, tuple)) and not isinstance(found, torch.Size):
        return [described(value) for value in found]
    if isinstance(found, set):
        return sorted(found)
    return found if isinstance(found, (bool, int, float, str, type(None))) else repr(found)


def main() -> None:
    """Write the recorded files."""
    RECORDED.mkdir(exist_ok=True)
    expected = {}
    for make in (of_every_dtype, of_every_layout, containers, training_state):
        made = make()
        torch.save(made, RECORDED / f"{make.__name__}.pt")
        expected[make.__name__] = described(made)
        if make is of_every_dtype:  # torch itself can not load these in its old format
            made = {name: tensor for name, tensor in made.items() if "8_e" not in name and name[:3] != "uin"}
        torch.save(made, RECORDED / f"{make.__name__}.old.pt", _use_new_zipfile_serialization=False)
    (RECORDED / "expected.json").write_text(json.dumps(expected, indent=0) + "\n")
    torch.manual_seed(0)
    torch.save(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), RECORDED / "module.pt")
    torch.serialization.set_crc32_options(False)
    torch.save(torch.tensor([1.0, 2.0]), RECORDED / "unchecked.pt")
    torch.save(of_sparse_layouts(), RECORDED / "sparse.pt")


if __name__ == "__main__":
    main()
