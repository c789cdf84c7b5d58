"""Evaluating the cases: with torch when they are recorded or compared live, with funcgrad in the tests."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.distributions import cases
from tests.distributions.cases import Case

Host = np.ndarray[Any, Any]
MISSING = (NotImplementedError, AttributeError, ValueError, RuntimeError)  # the same for both libraries


class Asking:
    """One library's answers. `torch` is its top module."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.names = {"torch": torch, "D": torch.distributions}

    def tensor(self, array: Host, dtype: str = "float64") -> Any:
        return self.torch.tensor(array.tolist(), dtype=getattr(self.torch, dtype))

    def of(self, expressions: Sequence[str], names: dict[str, Any]) -> dict[str, Any]:
        """Evaluate all that this object has; tensors stay tensors. Each is read, which is when a refusal is told."""
        answers: dict[str, Any] = {}
        for expression in expressions:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    answer = eval(expression, self.names | names)
                    str(answer)
                except MISSING:
                    continue
                answers[expression] = answer
        return answers

    def gradients(self, leaves: list[Any]) -> Any:
        """Return the function g(result): gradients of a weighted sum of the result, all in one vector."""

        def g(result: Any) -> Any:
            if not result.requires_grad:
                raise NotImplementedError("no gradient")
            weights = self.tensor(np.linspace(1, 2, result.numel()).reshape(tuple(result.shape)), _dtype(result))
            total = (result * weights).sum()
            found = self.torch.autograd.grad(total, leaves, allow_unused=True, retain_graph=True)
            zeros = [self.torch.zeros_like(x) if f is None else f for f, x in zip(found, leaves, strict=True)]
            return self.torch.cat([z.reshape(-1) for z in zeros])

        return g

    def distribution(self, case: Case, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the answers of a distribution that are arrays, and those that are not."""
        *given, value = cases.arrays((*case.given, case.value), seed)
        names = self._made(case, given) | {"v": self.tensor(value), "u": self.tensor(np.linspace(0.1, 0.9, 3))}
        facts = self.of(cases.FACTS, names)
        return {k: host(x) for k, x in self.of(cases.ASKED, names).items()}, {k: str(x) for k, x in facts.items()}

    def drawn(self, case: Case, seed: int, dtype: str) -> dict[str, Any]:
        """Return what the distribution draws, and at the end an integer: how far the stream has come."""
        *given, _ = cases.arrays((*case.given, case.value), seed)
        self.torch.manual_seed(seed)
        answers = self.of(cases.DRAWN, self._made(case, given, dtype))
        return {k: host(x) for k, x in answers.items()} | {"next": host(self.torch.randint(1 << 27, (1,)))}

    def _made(self, case: Case, given: list[Host], dtype: str = "float64") -> dict[str, Any]:
        leaves = [self.tensor(array, dtype).requires_grad_() for array in given]
        return {"d": eval(case.make, self.names | {"p": leaves}), "g": self.gradients(leaves)}

    def divergences(self, p: str, seed: int) -> dict[str, Host]:
        """Return KL(p || q) and its gradients for all q; nothing where a pair has none."""
        answers: dict[str, Any] = {}
        for q, (make, given) in cases.divergences()[p].items():
            leaves = [self.tensor(array).requires_grad_() for array in cases.arrays(given, seed)]
            for kl in self.of((make,), {"p": leaves}).values():
                answers[q] = kl
                answers |= {
                    f"gradient {q}": x for x in self.of(("g(kl)",), {"kl": kl, "g": self.gradients(leaves)}).values()
                }
        return {question: host(answer) for question, answer in answers.items()}

    def transform(self, make: str, given: tuple[Any, ...], seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the answers of a transform that are arrays, and those that are not."""
        (array,) = cases.arrays((given,), seed)
        x = self.tensor(array).requires_grad_()
        names = {"t": eval(make, self.names), "x": x, "g": self.gradients([x])}
        facts = self.of(cases.FACTS_OF_TRANSFORMS, names)
        return {k: host(y) for k, y in self.of(cases.ASKED_OF_TRANSFORMS, names).items()}, {
            k: str(y) for k, y in facts.items()
        }

    def error(self, expression: str) -> tuple[str, str]:
        """Return the type and first words of what an expression raises."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                eval(expression, self.names)
            except Exception as error:
                return type(error).__name__, str(error)
        return "nothing", ""


def host(tensor: Any) -> Host:
    return np.asarray(tensor.detach().numpy())


def _dtype(tensor: Any) -> str:
    return str(tensor.dtype).removeprefix("torch.").removeprefix("funcgrad.")
