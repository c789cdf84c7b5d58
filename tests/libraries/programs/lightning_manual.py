"""lightning: manual optimization of a GAN, weight averaging, predictions written, and a loop with Fabric."""

import logging
import tempfile
import warnings
from pathlib import Path

import lightning as L
import torch
from lightning.fabric import Fabric
from lightning.pytorch.callbacks import BasePredictionWriter, GradientAccumulationScheduler, StochasticWeightAveraging
from lightning.pytorch.profilers import PyTorchProfiler, SimpleProfiler
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning").setLevel(logging.ERROR)


class Gan(L.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.maker = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 2))
        self.judge = nn.Sequential(nn.Linear(2, 12), nn.LeakyReLU(0.2), nn.Linear(12, 1))

    def training_step(self, batch: list[torch.Tensor], index: int) -> None:
        (real,) = batch
        make, judge = self.optimizers()
        self.toggle_optimizer(make)
        fake = self.maker(torch.randn(len(real), 3, device=self.device))
        make_loss = F.softplus(-self.judge(fake)).mean()
        make.zero_grad()
        self.manual_backward(make_loss)
        self.clip_gradients(make, gradient_clip_val=0.5, gradient_clip_algorithm="norm")
        make.step()
        self.untoggle_optimizer(make)
        with judge.toggle_model():
            judge_loss = F.softplus(self.judge(fake.detach())).mean() + F.softplus(-self.judge(real)).mean()
            judge.zero_grad()
            self.manual_backward(judge_loss)
            judge.step()
        self.log_dict({"maker": make_loss, "judge": judge_loss}, on_epoch=True, on_step=False)

    def on_train_epoch_end(self) -> None:
        for scheduler in self.lr_schedulers():
            scheduler.step()
        print(self.current_epoch, {k: round(v.item(), 4) for k, v in self.trainer.callback_metrics.items()})

    def configure_optimizers(self) -> tuple[list, list]:
        make = torch.optim.Adam(self.maker.parameters(), lr=0.01, betas=(0.5, 0.9))
        judge = torch.optim.Adam(self.judge.parameters(), lr=0.01)
        return [make, judge], [torch.optim.lr_scheduler.ExponentialLR(o, 0.9) for o in (make, judge)]


class Regression(L.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))

    def training_step(self, batch: list[torch.Tensor], index: int) -> dict[str, torch.Tensor]:
        loss = F.mse_loss(self.layers(batch[0]).squeeze(-1), batch[0].prod(-1))
        self.log("loss", loss, prog_bar=True)
        return {"loss": loss}

    def predict_step(self, batch: list[torch.Tensor], index: int, dataloader_idx: int = 0) -> torch.Tensor:
        return self.layers(batch[0])

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Writer(BasePredictionWriter):
    def write_on_epoch_end(
        self, trainer: L.Trainer, module: L.LightningModule, predictions: list, places: list
    ) -> None:
        torch.save({"predictions": predictions, "places": places}, Path(trainer.default_root_dir) / "predictions.pt")


L.seed_everything(5, workers=True)
points = TensorDataset(torch.randn(48, 2) * 0.3 + 1)
loader = DataLoader(points, batch_size=12, shuffle=True)
quiet = {"accelerator": "cpu", "enable_progress_bar": False, "enable_model_summary": False, "logger": False}
gan = Gan()
L.Trainer(max_epochs=3, enable_checkpointing=False, **quiet).fit(gan, loader)
print([round(o.param_groups[0]["lr"], 5) for o in gan.optimizers()])

with tempfile.TemporaryDirectory() as folder:
    model, profiler = Regression(), SimpleProfiler()
    trainer = L.Trainer(
        max_epochs=6, default_root_dir=folder, profiler=profiler, gradient_clip_val=0.1, num_sanity_val_steps=0,
        limit_train_batches=0.75, gradient_clip_algorithm="value", **quiet,
        callbacks=[
            StochasticWeightAveraging(0.05, 0.5, 2), GradientAccumulationScheduler({0: 1, 2: 2}), Writer("epoch"),
        ],
    )  # fmt: skip
    trainer.fit(model, loader)
    print(trainer.global_step, f"{trainer.callback_metrics['loss']:.4f}", model.layers[0].weight[:2])
    trainer.predict(model, DataLoader(points, batch_size=24), return_predictions=False)
    saved = torch.load(Path(folder) / "predictions.pt")
    print([p.shape for p in saved["predictions"]], saved["predictions"][0][:2], saved["places"][0][1][:3])
    print("run_training_epoch" in profiler.recorded_durations, len(profiler.recorded_durations) > 20)
    traced = L.Trainer(max_epochs=1, default_root_dir=folder, profiler=PyTorchProfiler(folder, "trace"), **quiet)
    traced.fit(Regression(), loader)

fabric = Fabric(accelerator="cpu", devices=1, precision="bf16-mixed")
fabric.seed_everything(1)
net = nn.Linear(2, 1)
net, optimizer = fabric.setup(net, torch.optim.AdamW(net.parameters(), lr=0.05))
for step, (x,) in enumerate(fabric.setup_dataloaders(DataLoader(points, batch_size=16))):
    loss = (net(x).squeeze(-1) - x.sum(-1)).square().mean()
    fabric.backward(loss)
    fabric.clip_gradients(net, optimizer, max_norm=1.0)
    optimizer.step()
    optimizer.zero_grad()
    fabric.print(f"fabric {step} {loss.item():.3f} {loss.dtype}")
with tempfile.TemporaryDirectory() as folder:
    state = {"model": net, "optimizer": optimizer, "step": 3}
    fabric.save(Path(folder) / "state.ckpt", state)
    before = net.weight.clone()
    nn.init.zeros_(net.weight)
    rest = fabric.load(Path(folder) / "state.ckpt", state)
    print(torch.equal(net.weight, before), state["step"], rest, fabric.all_gather(torch.ones(2)), fabric.world_size)
