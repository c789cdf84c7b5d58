"""pytorch-ignite: engines with metrics, events, schedulers, checkpoints, early stopping and a resumed run."""

import tempfile
import warnings
from pathlib import Path

import torch
from ignite.contrib.engines import common  # noqa: F401 - imported as users do
from ignite.engine import Engine, Events, create_supervised_evaluator, create_supervised_trainer
from ignite.handlers import (
    Checkpoint,
    CosineAnnealingScheduler,
    DiskSaver,
    EarlyStopping,
    EMAHandler,
    FastaiLRFinder,
    ModelCheckpoint,
    TerminateOnNan,
    create_lr_scheduler_with_warmup,
    global_step_from_engine,
)
from ignite.metrics import (
    Accuracy,
    ConfusionMatrix,
    Fbeta,
    Loss,
    MetricsLambda,
    Precision,
    Recall,
    RunningAverage,
    TopKCategoricalAccuracy,
    mIoU,
)
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
torch.manual_seed(0)
centres = torch.randn(4, 6) * 2
labels = torch.randint(0, 4, (96,))
points = centres[labels] + torch.randn(96, 6)
train = DataLoader(TensorDataset(points[:64], labels[:64]), batch_size=16, shuffle=True)
valid = DataLoader(TensorDataset(points[64:], labels[64:]), batch_size=16)

model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
criterion = nn.CrossEntropyLoss()
trainer = create_supervised_trainer(model, optimizer, criterion, gradient_accumulation_steps=2)
RunningAverage(output_transform=lambda loss: loss, alpha=0.9).attach(trainer, "running loss")
trainer.add_event_handler(Events.ITERATION_COMPLETED, TerminateOnNan())
warm = create_lr_scheduler_with_warmup(
    CosineAnnealingScheduler(optimizer, "lr", 0.2, 0.02, cycle_size=20), warmup_start_value=0.01, warmup_duration=4
)
trainer.add_event_handler(Events.ITERATION_STARTED, warm)
average = EMAHandler(model, momentum=0.1)
average.attach(trainer, name="ema momentum", event=Events.ITERATION_COMPLETED)

precision, recall = Precision(average=False), Recall(average=False)
matrix = ConfusionMatrix(num_classes=4)
metrics = {
    "accuracy": Accuracy(), "loss": Loss(criterion), "f1": Fbeta(1, precision=precision, recall=recall),
    "precision": precision, "recall": recall, "matrix": matrix, "iou": mIoU(matrix), "top2": TopKCategoricalAccuracy(2),
    "both": MetricsLambda(lambda p, r: (p * r).mean().item(), precision, recall),
}  # fmt: skip
evaluator = create_supervised_evaluator(model, metrics=metrics)


@trainer.on(Events.ITERATION_COMPLETED(every=4))
def tell(engine: Engine) -> None:
    rate = optimizer.param_groups[0]["lr"]
    print(f"iteration {engine.state.iteration} loss {engine.state.output:.4f} rate {rate:.4f}")


@trainer.on(Events.EPOCH_COMPLETED)
def evaluate(engine: Engine) -> None:
    found = evaluator.run(valid).metrics
    print(f"epoch {engine.state.epoch} running {engine.state.metrics['running loss']:.4f}")
    print({name: round(found[name], 4) for name in ("accuracy", "loss", "f1", "top2", "both")})


with tempfile.TemporaryDirectory() as folder:
    best = ModelCheckpoint(
        folder, "best", n_saved=2, score_function=lambda e: e.state.metrics["accuracy"], score_name="accuracy",
        global_step_transform=global_step_from_engine(trainer),
    )  # fmt: skip
    evaluator.add_event_handler(Events.COMPLETED, best, {"model": model})
    stopper = EarlyStopping(patience=2, score_function=lambda e: -e.state.metrics["loss"], trainer=trainer)
    evaluator.add_event_handler(Events.COMPLETED, stopper)
    everything = {"trainer": trainer, "model": model, "optimizer": optimizer, "warm": warm}
    keeper = Checkpoint(everything, DiskSaver(folder, require_empty=False), filename_prefix="all", n_saved=1)
    trainer.add_event_handler(Events.EPOCH_COMPLETED, keeper)
    state = trainer.run(train, max_epochs=5)
    print(state.epoch, state.iteration, sorted(path.name for path in Path(folder).iterdir()))
    print(evaluator.state.metrics["matrix"], evaluator.state.metrics["iou"], evaluator.state.metrics["precision"])
    print("average", average.ema_model[0].weight[0])
    Checkpoint.load_objects(everything, torch.load(Path(folder) / keeper.last_checkpoint, weights_only=False))
    trainer.state.max_epochs = None
    print("resumed", trainer.run(train, max_epochs=6).iteration)

finder = FastaiLRFinder()
with finder.attach(trainer, {"model": model, "optimizer": optimizer}, end_lr=1.0, num_iter=8) as searching:
    searching.run(train)
print([round(rate, 5) for rate in finder.get_results()["lr"]])


def penalised(engine: Engine, batch: tuple) -> dict[str, torch.Tensor]:
    x, y = batch
    optimizer.zero_grad()
    loss, penalty = criterion(model(x), y), sum(p.square().sum() for p in model.parameters())
    (loss + 1e-3 * penalty).backward()
    optimizer.step()
    return {"loss": loss.detach(), "penalty": penalty.detach()}


own = Engine(penalised)
RunningAverage(output_transform=lambda out: out["penalty"]).attach(own, "penalty")
own.run(train, max_epochs=2)
print({name: round(float(value), 4) for name, value in own.state.metrics.items()}, own.state.output["loss"])
