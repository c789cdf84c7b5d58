"""Measure how long a DataLoader takes to make a sample, under funcgrad and under torch.

    python -m tests.benchmarks.samples

The same datasets, word for word, in processes of their own, torch with one thread; microseconds of processor time for a
sample, the least of some epochs, and the first epoch, in which all is new.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

SAMPLES, BATCH, EPOCHS = 1600, 32, 5


def datasets(torch: Any) -> dict[str, Callable[[int], Any]]:
    """Return functions that make the samples of some datasets, as scripts write them."""
    functional = torch.nn.functional
    torch.manual_seed(0)
    images = torch.randint(0, 256, (SAMPLES, 3, 32, 32), dtype=torch.uint8)
    labels, starts = torch.randint(0, 10, (SAMPLES,)), torch.randint(0, 50, (SAMPLES,))
    strides, lengths = torch.randint(1, 6, (SAMPLES,)), torch.randint(3, 20, (SAMPLES,)).tolist()
    sentences = [[(i + j) % 100 for j in range(length)] for i, length in enumerate(lengths)]
    mean, std = torch.tensor([0.49, 0.48, 0.45]).view(3, 1, 1), torch.tensor([0.2, 0.2, 0.2]).view(3, 1, 1)
    series = torch.sin(torch.arange(SAMPLES + 30) / 10)

    def augmented(i: int) -> Any:
        image = images[i].float() / 255
        if torch.rand(1).item() < 0.5:
            image = image.flip(-1)
        image = functional.pad(image, (4, 4, 4, 4))
        top, left = torch.randint(0, 9, (1,)).item(), torch.randint(0, 9, (1,)).item()
        return image[:, top : top + 32, left : left + 32], labels[i]

    def counting(i: int) -> Any:
        words = (starts[i] + strides[i] * torch.arange(33)) % 50
        return words[:-1], words[1:]

    def padded(i: int) -> Any:
        words = torch.tensor(sentences[i][:16])
        return functional.pad(words, (0, 16 - len(words)), value=0), torch.tensor(len(words))

    return {
        "taken": lambda i: (images[i], labels[i]),
        "normalised": lambda i: ((images[i].float() / 255 - mean) / std, labels[i]),
        "augmented": augmented,
        "counting": counting,
        "padded": padded,
        "windows": lambda i: (series[i : i + 20], series[i + 20]),
        "one-hot": lambda i: (functional.one_hot(labels[i], 10).float(), torch.tensor(float(i))),
    }


def measured(torch: Any, make: Callable[[int], Any]) -> list[float]:
    """Return microseconds for a sample in each epoch."""

    class Made(torch.utils.data.Dataset):
        def __len__(self) -> int:
            return SAMPLES

        def __getitem__(self, i: int) -> Any:
            return make(i)

    times = []
    for _ in range(1 + EPOCHS):
        start = time.process_time()
        for inputs, _ in torch.utils.data.DataLoader(Made(), batch_size=BATCH, shuffle=True):
            float(inputs.float().mean())
        times.append((time.process_time() - start) / SAMPLES * 1e6)
    return times


def measured_elsewhere(library: str) -> dict[str, list[float]]:
    """Return what one library takes, measured in a process of its own."""
    settings = os.environ | {"OMP_NUM_THREADS": "1"} if library == "torch" else os.environ
    words = [sys.executable, "-m", "tests.benchmarks.samples", library]
    return json.loads(subprocess.run(words, env=settings, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    """Print a row for each dataset."""
    ours, theirs = map(measured_elsewhere, ("funcgrad", "torch"))
    print(f"{'us a sample':14}{'funcgrad':>10}{'torch':>10}{'ratio':>8}{'first epoch':>14}{'torch':>10}")
    for name in ours:
        least, other = min(ours[name][1:]), min(theirs[name][1:])
        print(
            f"{name:14}{least:>10.1f}{other:>10.1f}{least / other:>8.2f}{ours[name][0]:>14.1f}{theirs[name][0]:>10.1f}"
        )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        library = importlib.import_module(sys.argv[1])
        importlib.import_module(f"{sys.argv[1]}.utils.data")
        print(json.dumps({name: measured(library, make) for name, make in datasets(library).items()}))
    else:
        main()
