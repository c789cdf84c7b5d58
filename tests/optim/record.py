"""Record torch's numbers for the tests of optim: `python -m tests.optim.record`, where torch 2.13 is installed."""

from __future__ import annotations

import json
import sys
import types
import unittest
import warnings
from pathlib import Path
from typing import Any

import numpy as np

if "expecttest" not in sys.modules:  # torch.testing imports it for a base class; it is not needed here
    sys.modules["expecttest"] = types.ModuleType("expecttest")
    sys.modules["expecttest"].TestCase = unittest.TestCase  # type: ignore[attr-defined]

import torch
from torch.optim import lr_scheduler, swa_utils
from torch.testing._internal.common_optimizers import optim_db

from tests.optim import cases

FOLDER = Path(__file__).parent / "recorded"
AFTER = (1, cases.STEPS)


def options_of_torch() -> dict[str, list[dict[str, Any]]]:
    """Return torch's own test options, per optimizer; a tensor as {"tensor": number}."""
    found: dict[str, list[dict[str, Any]]] = {}
    for info in optim_db:
        name = info.optim_cls.__name__
        if name != "LBFGS":
            found[name] = [_plain(one.kwargs) for one in info.optim_inputs_func(device="cpu")]
    found["SGD"].append({"momentum": 0.9, "dampening": 0.5, "nesterov": False, "maximize": True})
    found["Muon"].append({"adjust_lr_fn": "match_rms_adamw", "nesterov": False})
    found["RMSprop"].append({"momentum": 0.5})
    found["Adam"].append({"betas": (0.5, 0.6), "eps": 1e-3, "decoupled_weight_decay": True, "weight_decay": 0.5})
    return found


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    return {k: {"tensor": v.item()} if isinstance(v, torch.Tensor) else v for k, v in options.items()}


def _torch_options(options: dict[str, Any]) -> dict[str, Any]:
    return {k: torch.tensor(v["tensor"]) if isinstance(v, dict) else v for k, v in options.items()}


def trajectory(name: str, options: dict[str, Any], dtype: str = "float32") -> tuple[list[list[np.ndarray]], Any, Any]:
    """Return the parameters after each step, the parameters and the optimizer."""
    start, gradients = cases.problem(name, dtype)
    params = [torch.tensor(array, requires_grad=True) for array in start]
    optimizer = getattr(torch.optim, name)(params, **_torch_options(options))
    rows = []
    for step in gradients:
        for param, gradient in zip(params, step, strict=True):
            param.grad = gradient_of(name, gradient)
        optimizer.step()
        rows.append([param.detach().numpy().copy() for param in params])
    return rows, params, optimizer


def gradient_of(name: str, array: np.ndarray | None) -> Any:
    """Return a gradient as the optimizer wants it."""
    if array is None:
        return None
    return torch.tensor(array).to_sparse(1) if name == "SparseAdam" else torch.tensor(array)


def record_trajectories() -> dict[str, Any]:
    """Return, per optimizer and options: the parameters after the first and the last step, and the last state."""
    found: dict[str, Any] = {}
    for name, all_options in options_of_torch().items():
        for options in all_options:
            rows, params, optimizer = trajectory(name, options)
            after = [[_rounded(array) for array in rows[step - 1]] for step in AFTER]
            state = [{k: _rounded(np.asarray(v)) for k, v in optimizer.state[param].items()} for param in params]
            found.setdefault(name, []).append({"options": options, "after": after, "state": state})
    return found


def _rounded(array: np.ndarray) -> Any:
    """Return nested lists of numbers with the nine digits that tell float32s apart."""
    return [float(f"{x:.9g}") for x in array.ravel()] if array.shape else float(f"{array.item():.9g}")


def record_schedules() -> dict[str, Any]:
    """Return learning rates and momenta per schedule."""

    def optimizer() -> Any:
        a, b = (torch.nn.Parameter(torch.zeros(1)) for _ in range(2))
        return torch.optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.5}], lr=0.1, momentum=0.9)

    schedules = {name: cases.schedule(build, lr_scheduler, optimizer()) for name, build in cases.SCHEDULES.items()}
    plateaus = {name: cases.plateau(lr_scheduler, optimizer(), options) for name, options in cases.PLATEAUS.items()}
    swa = {name: cases.schedule(build, swa_utils, optimizer()) for name, build in cases.SWA_SCHEDULES.items()}
    return {"schedules": schedules, "plateaus": plateaus, "swa": swa}


def record_searches() -> dict[str, Any]:
    """Return losses and evaluations of L-BFGS."""

    def as_param(array: np.ndarray) -> Any:
        return torch.tensor(array, requires_grad=True)

    return {
        name: cases.fit(torch.tensor, as_param, torch.optim.LBFGS, options) for name, options in cases.SEARCHES.items()
    }


def record_texts() -> dict[str, Any]:
    """Return what printing an optimizer shows, and the keys of its first group's options."""
    found = {}
    for name in [*options_of_torch(), "LBFGS"]:
        groups = [{"params": torch.nn.Parameter(torch.zeros(2, 2))} for _ in range(1 if name == "LBFGS" else 2)]
        optimizer = getattr(torch.optim, name)(groups)
        found[name] = {"repr": repr(optimizer), "keys": list(optimizer.state_dict()["param_groups"][0])}
    return found


def main() -> None:
    """Write all files."""
    warnings.simplefilter("ignore")
    FOLDER.mkdir(exist_ok=True)
    files = {
        "trajectories": record_trajectories(), "schedules": record_schedules(), "searches": record_searches(),
        "texts": record_texts(),
    }  # fmt: skip
    for name, content in files.items():
        text = json.dumps(content, separators=(",", ":")).replace('{"options"', '\n{"options"')
        (FOLDER / f"{name}.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
