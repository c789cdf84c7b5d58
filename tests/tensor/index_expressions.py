"""Scripts that read and write tensors by index expressions drawn at random from all of torch's index language."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

SHAPES = [(5,), (3, 4), (2, 3, 4), (1, 3), (4, 1, 2), (2, 2, 2, 3), (), (0, 3), (3, 0)]
USES = (
    "x[{index}]",
    "x.requires_grad_(); y = x[{index}]; (y * y.detach()).sum().backward(); [y.detach(), x.grad]",
    "x[{index}] = 7; x",
    "part = x[{index}]; x[{index}] = part.clone() * 0 + 100; x",
    "x[{index}] += 10; x",
    "y = x[{index}]; y.add_(50); [x, y]",
    "w = torch.tensor(2.0, requires_grad=True); z = x.clone(); z[{index}] = w * 3; ((z * x).sum() + w).backward(); "
    "[z.detach(), w.grad]",
    "y = x.clone(); y[{index}] = np.float64(3); x.data[{index}] -= 1; [x, y]",
)


def expressions(seed: int, count: int) -> list[str]:
    """Return that many scripts, always the same ones for one seed."""
    random = Random(seed)
    return [_script(random) for _ in range(count)]


def _script(random: Random) -> str:
    shape = random.choice(SHAPES)
    numbers = f"torch.arange({math.prod(shape)}.0).reshape({shape})" if shape else "torch.tensor(3.0)"
    return f"x = {numbers}.clone(); " + random.choice(USES).format(index=index(random, shape))


def index(random: Random, shape: Sequence[int]) -> str:
    """Return what may stand between the brackets of a tensor of this shape; now and then it is an error."""
    parts: list[str] = []
    dim = 0
    while dim < len(shape) and random.random() < 0.8:
        kind = random.random()
        if kind < 0.12:
            parts.append(random.choice(("None", "None", "True", "False")))
        elif kind < 0.17 and "..." not in parts:
            parts.append("...")
            dim += random.randint(0, len(shape) - dim)
        elif kind < 0.27 and len(shape) - dim >= 2:
            parts.append(_mask(random, shape[dim : dim + 2]))
            dim += 2
        else:
            parts.append(_of_one_dimension(random, shape[dim]))
            dim += 1
    parts += ["None"] * (random.random() < 0.1)
    return ", ".join(parts) or random.choice((":", "...", "None", "()", "0"))


def _of_one_dimension(random: Random, size: int) -> str:
    kind = random.random()
    if size == 0:
        return random.choice((":", "1:", "torch.tensor([], dtype=torch.int64)", "[]", "0"))
    place = random.randint(-size, size - 1)
    places = [random.randint(-size, size - 1) for _ in range(random.choice((1, 2, 2)))]
    if kind < 0.25:
        return str(place if random.random() < 0.97 else size)
    if kind < 0.55:
        return _slice(random, size)
    if kind < 0.75:
        return random.choice((f"torch.tensor({place})", f"torch.tensor({places})", f"torch.tensor([{places}])"))
    if kind < 0.9:
        return random.choice((f"{places}", f"np.array({places})", f"np.int64({place})", f"tuple({places})"))
    flags = [random.random() < 0.5 for _ in range(size)]
    return random.choice((f"torch.tensor({flags})", f"{flags}", f"np.array({flags})"))


def _slice(random: Random, size: int) -> str:
    start, stop = (random.choice(("", str(random.randint(-size - 1, size + 1)))) for _ in range(2))
    return f"{start}:{stop}{random.choice(('', '', ':1', ':2', ':3', ':'))}"


def _mask(random: Random, shape: Sequence[int]) -> str:
    if 0 in shape:
        return f"torch.zeros({tuple(shape)}, dtype=torch.bool)"
    return f"torch.tensor({[[random.random() < 0.5 for _ in range(shape[1])] for _ in range(shape[0])]})"
