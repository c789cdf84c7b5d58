"""Record torch's answers: `python -m tests.distributions.record` (needs torch; the tests do not)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tests.distributions import cases
from tests.distributions.asking import Asking

HERE = Path(__file__).parent / "recorded"
SEED = 7


def main() -> None:
    asking = Asking(torch)
    numbers: dict[str, Any] = {}
    facts: dict[str, Any] = {"distributions": {}, "transforms": {}, "errors": {}}
    for name, case in cases.DISTRIBUTIONS.items():
        answers, facts["distributions"][name] = asking.distribution(case, SEED)
        numbers |= {f"{name}\t{key}": answer for key, answer in answers.items()}
        for dtype in ("float32", "float64"):
            drawn = asking.drawn(case, SEED, dtype)
            numbers |= {f"{name}\t{dtype}\t{key}": answer for key, answer in drawn.items()}
    for p in cases.divergences():
        numbers |= {f"{p} ||\t{question}": answer for question, answer in asking.divergences(p, SEED).items()}
    for name, (make, given) in cases.TRANSFORMS.items():
        answers, facts["transforms"][name] = asking.transform(make, given, SEED)
        numbers |= {f"transform {name}\t{key}": answer for key, answer in answers.items()}
    facts["errors"] = {expression: asking.error(expression) for expression in cases.ERRORS}
    np.savez_compressed(
        HERE / "numbers.npz", **{str(i): x for i, x in enumerate(numbers.values())}, names=list(numbers)
    )
    (HERE / "facts.json").write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
