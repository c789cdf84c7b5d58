"""Measure how long a DataLoader takes to make a sample, under funcgrad and under torch.

    python -m tests.benchmarks.samples

The same datasets, word for word, each in a process of its own, torch with one thread; microseconds of processor time
for a sample, the least of some epochs, and the first epoch, in which all is new.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

from tests.benchmarks.apart import chosen, print_first_and_later

SAMPLES, BATCH, EPOCHS = 1600, 32, 5
NAMES = ("taken", "normalised", "augmented", "counting", "padded", "windows", "one-hot")


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


def measure(engine: str, workload: str) -> dict[str, float]:
    """Return microseconds for a sample in the first epoch and in later ones."""
    torch = importlib.import_module(engine)
    loading = importlib.import_module(f"{engine}.utils.data")
    torch.set_num_threads(1)
    make = datasets(torch)[workload]

    class Made(loading.Dataset):
        def __len__(self) -> int:
            return SAMPLES

        def __getitem__(self, i: int) -> Any:
            return make(i)

    times = []
    for _ in range(1 + EPOCHS):
        start = time.process_time()
        for inputs, _ in loading.DataLoader(Made(), batch_size=BATCH, shuffle=True):
            float(inputs.float().mean())
        times.append((time.process_time() - start) / SAMPLES * 1e6)
    return {"first": times[0], "later": min(times[1:])}


def main() -> None:
    """Print a row for each dataset."""
    print_first_and_later("tests.benchmarks.samples", chosen(__doc__, NAMES, measure), "us a sample")


if __name__ == "__main__":
    main()
