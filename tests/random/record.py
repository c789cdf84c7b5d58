"""Record torch's numbers for every script and seed: `python tests/random/record.py` (needs torch; tests do not)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from scripts import SCRIPTS, SEEDS, grid

HERE = Path(__file__).parent / "recorded"


def evaluate(script: str, seed: int) -> list[torch.Tensor]:
    """Return what the script draws, and one more integer."""
    torch.manual_seed(seed)
    return [*eval(script, {"torch": torch, "grid": grid}), torch.randint(1 << 27, (1,))]


def raw_bytes(tensor: torch.Tensor) -> bytes:
    """Return a tensor's bytes; numpy has no bfloat16."""
    return (tensor.view(torch.int16) if tensor.dtype is torch.bfloat16 else tensor).numpy().tobytes()


def main() -> None:
    for seed in SEEDS:
        kinds, numbers = [], []
        for script in SCRIPTS.values():
            drawn = evaluate(script, seed)
            kinds.append("; ".join(f"{str(x.dtype)[6:]} {list(x.shape)}" for x in drawn))
            numbers.append(b"".join(map(raw_bytes, drawn)))
        offsets = np.cumsum([0, *map(len, numbers)])
        flat = np.frombuffer(b"".join(numbers), np.uint8)
        np.savez_compressed(HERE / f"seed_{seed}.npz", names=list(SCRIPTS), kinds=kinds, offsets=offsets, numbers=flat)
    torch.manual_seed(5)
    states = []
    for count in (0, 1, 623, 1, 700):
        torch.rand(count)
        torch.randn(1)
        states.append(torch.get_rng_state().numpy())
    np.savez_compressed(HERE / "states.npz", states=np.stack(states))


if __name__ == "__main__":
    main()
