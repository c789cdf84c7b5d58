"""The distillation of examples/scripts/distillation.py as pure functions: the teacher's weights are an argument.

python examples/twins/distillation.py
python -m funcgrad compare examples/scripts/distillation.py examples/twins/distillation.py
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import jax
import optax
from start import Weights, before_training, beginning, descent, linear, mask, train, weights_of

from funcgrad.nn import functional as F

EPOCHS, RATE, TEMPERATURE, SOFT, HARD = 8, 2e-3, 2.0, 0.25, 0.75


def teacher_of(weights: Weights, images: jax.Array, kept: jax.Array | float = 1.0) -> jax.Array:
    hidden = F.relu(linear(weights, "features.0", images))
    hidden = F.relu(linear(weights, "features.2", hidden))
    hidden = F.relu(linear(weights, "classifier.0", hidden)) * kept
    return linear(weights, "classifier.3", hidden)


def student_of(weights: Weights, images: jax.Array) -> jax.Array:
    return linear(weights, "classifier", F.relu(linear(weights, "features.0", images)))


def teachers_loss(weights: Weights, images: jax.Array, labels: jax.Array, kept: jax.Array) -> jax.Array:
    return F.cross_entropy(teacher_of(weights, images, kept), labels)


def students_loss(weights: Weights, images: jax.Array, labels: jax.Array) -> jax.Array:
    return F.cross_entropy(student_of(weights, images), labels)


def soft_loss(weights: Weights, images: jax.Array, labels: jax.Array, teacher: Weights) -> jax.Array:
    """Hinton, Vinyals and Dean 2015: the soft part is scaled by the square of the temperature."""
    logits = student_of(weights, images)
    soft = jax.nn.softmax(teacher_of(teacher, images) / TEMPERATURE)
    divergence = F.kl_div(F.log_softmax(logits / TEMPERATURE, dim=1), soft, reduction="batchmean")
    return SOFT * TEMPERATURE**2 * divergence + HARD * F.cross_entropy(logits, labels)


def batches(script: Any, *last: Any, dropping: bool = False) -> Iterator[tuple[Any, ...]]:
    """Yield pictures and digits, and a mask or what else the loss takes."""
    for _ in range(EPOCHS):
        for images, labels in script.train_loader:
            yield images, labels, *([mask(len(images), 64, p=0.1)] if dropping else last)
    next(iter(script.test_loader))  # draws a seed, as the script's evaluation does


def setup() -> Generator[tuple[Any, Any, Iterator[tuple[Any, ...]]], Any, None]:
    """Yield a step, the state that it starts from, and its batches: for a teacher, a student alone, and its pupil."""
    adam = optax.adam(RATE)
    script = before_training("distillation")
    start = beginning(weights_of(script.teacher), adam)
    taught = yield descent(teachers_loss, adam), start, batches(script, dropping=True)
    teacher = jax.tree.map(jax.numpy.copy, taught["model"])
    script = before_training("distillation", skipping=1)
    yield descent(students_loss, adam), beginning(weights_of(script.light), adam), batches(script)
    yield descent(soft_loss, adam), beginning(weights_of(script.student), adam), batches(script, teacher)


if __name__ == "__main__":
    train(setup, every=20)
