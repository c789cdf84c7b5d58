"""poutyne, torchmetrics: a Model fitted with metrics and callbacks, evaluated, saved, and a bundle resumed."""

import contextlib
import logging
import tempfile
from pathlib import Path

import numpy as np
import torch
import torchmetrics
from poutyne import (
    Callback,
    ClipNorm,
    EarlyStopping,
    ExponentialLR,
    Model,
    ModelBundle,
    ModelCheckpoint,
    SKLearnMetrics,
    TerminateOnNaN,
    TopKAccuracy,
    acc,
    set_seeds,
)
from sklearn.metrics import accuracy_score

set_seeds(42)
logging.disable()
x = np.random.randn(200, 8).astype("float32")
y = (x[:, 0] + x[:, 1] ** 2 > 0.5).astype("int64") + (x[:, 2] > 1)
train, valid = (x[:150], y[:150]), (x[150:], y[150:])


def network() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.LayerNorm(16), torch.nn.ReLU(), torch.nn.Linear(16, 3))


def matching(truth: np.ndarray, scores: np.ndarray, sample_weight: np.ndarray | None = None) -> float:
    return accuracy_score(truth, scores.argmax(1), sample_weight=sample_weight)


class Seen(Callback):
    """Prints what an epoch's end is told."""

    def on_epoch_end(self, epoch_number: int, logs: dict) -> None:
        print(
            epoch_number,
            {name: round(float(value), 4) for name, value in logs.items() if name not in ("epoch", "time")},
        )


with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
    model = Model(
        network(), "adam", "cross_entropy", batch_metrics=["accuracy", TopKAccuracy(2)],
        epoch_metrics=["f1", torchmetrics.AUROC(num_classes=3, task="multiclass"), SKLearnMetrics(matching)],
    )  # fmt: skip
    best = Path("best.pt")
    callbacks = [
        Seen(),
        EarlyStopping(patience=2),
        ExponentialLR(gamma=0.9),
        TerminateOnNaN(),
        ClipNorm(model.network.parameters(), 1.0),
        ModelCheckpoint(str(best), monitor="val_acc", mode="max", save_best_only=True),
    ]
    history = model.fit(*train, validation_data=valid, epochs=4, batch_size=32, callbacks=callbacks, verbose=False)
    print(sorted(history[-1]))
    loss, metrics = model.evaluate(*valid, verbose=False)
    print(f"{loss:.4f}", np.round(metrics, 4))
    *_, predictions = model.evaluate(*valid, return_pred=True, verbose=False)
    print(predictions.shape, model.predict(x[:2], verbose=False).round(5))
    model.load_weights(str(best))
    print(model.train_on_batch(torch.from_numpy(x[:16]), torch.from_numpy(y[:16]))[0], model.get_weight_copies().keys())
    print([f"{entry:.4f}" for entry in (model.evaluate_on_batch(x[:16], y[:16])[0],)])

    for epochs in (2, 4):
        bundle = ModelBundle.from_network(
            Path("bundle"), network(), optimizer="sgd", task="classif", monitoring=True, logging=True
        )
        logs = bundle.train_data(
            *train, validation_data=valid, epochs=epochs, batch_size=50, verbose=False, callbacks=[Seen()]
        )
        print([entry["epoch"] for entry in logs], bundle.get_best_epoch_stats()["epoch"].item())
    print(
        {
            name: round(float(value), 4)
            for name, value in bundle.test_data(*valid, verbose=False).items()
            if name != "time"
        }
    )
    print(acc.__name__, sorted(path.name for path in Path("bundle").iterdir() if path.suffix != ""))
