"""pytorch-lightning: a Trainer with checkpoints, early stopping, schedulers and CSV logs; resumed, tested."""

import csv
import logging
import tempfile
import warnings
from pathlib import Path

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback, EarlyStopping, LearningRateMonitor, ModelCheckpoint
from pytorch_lightning.loggers import CSVLogger
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset, random_split

warnings.filterwarnings("ignore")
logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)


class Blobs(pl.LightningDataModule):
    def __init__(self, batch_size: int = 16) -> None:
        super().__init__()
        self.save_hyperparameters()

    def setup(self, stage: str) -> None:
        generator = torch.Generator().manual_seed(1)
        labels = torch.randint(0, 3, (160,), generator=generator)
        centres = torch.randn(3, 8, generator=generator) * 2
        points = centres[labels] + torch.randn(160, 8, generator=generator)
        data = TensorDataset(points, labels)
        self.train, self.val, self.test = random_split(data, [96, 32, 32], generator=generator)

    def train_dataloader(self) -> DataLoader:
        return DataLoader(self.train, batch_size=self.hparams.batch_size, shuffle=True)

    def val_dataloader(self) -> DataLoader:
        return DataLoader(self.val, batch_size=32)

    def test_dataloader(self) -> DataLoader:
        return DataLoader(self.test, batch_size=32)

    predict_dataloader = test_dataloader


class Classifier(pl.LightningModule):
    def __init__(self, width: int = 24, lr: float = 0.02) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(8, width, bias=False), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, 3))
        self.example_input_array = torch.zeros(2, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.net(x)

    def training_step(self, batch: tuple, index: int) -> torch.Tensor:
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("train_loss", loss, on_step=True, on_epoch=True)
        return loss

    def validation_step(self, batch: tuple, index: int) -> None:
        x, y = batch
        scores = self(x)
        accuracy = (scores.argmax(-1) == y).float().mean()
        self.log_dict({"val_loss": F.cross_entropy(scores, y), "val_accuracy": accuracy})

    def test_step(self, batch: tuple, index: int) -> None:
        x, y = batch
        self.log("test_loss", F.cross_entropy(self(x), y))

    def predict_step(self, batch: tuple, index: int) -> torch.Tensor:
        return self(batch[0]).softmax(-1)

    def configure_optimizers(self) -> dict:
        optimizer = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr, weight_decay=1e-2)
        scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=self.hparams.lr, total_steps=100)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}


class Talker(Callback):
    def on_before_optimizer_step(self, trainer: pl.Trainer, module: pl.LightningModule, optimizer: object) -> None:
        if trainer.global_step % 4 == 0:
            norm = torch.stack([p.grad.norm() for p in module.parameters()]).norm()
            print(f"step {trainer.global_step} gradient {norm:.4f}")

    def on_validation_epoch_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        if not trainer.sanity_checking:
            print(
                f"epoch {trainer.current_epoch}", {k: round(v.item(), 4) for k, v in trainer.callback_metrics.items()}
            )


pl.seed_everything(3)
with tempfile.TemporaryDirectory() as folder:
    data, model = Blobs(), Classifier()
    best = ModelCheckpoint(monitor="val_loss", save_top_k=2, save_last=True, filename="{epoch}-{step}")
    quiet = {"accelerator": "cpu", "enable_progress_bar": False, "default_root_dir": folder, "deterministic": True}
    trainer = pl.Trainer(
        max_epochs=5, gradient_clip_val=0.5, accumulate_grad_batches=2, log_every_n_steps=1,
        callbacks=[best, EarlyStopping("val_loss", patience=2), LearningRateMonitor("step"), Talker()],
        logger=CSVLogger(folder, name="run"), **quiet,
    )  # fmt: skip
    trainer.fit(model, datamodule=data)
    print(pl.utilities.model_summary.summarize(model, max_depth=2))
    print("steps", trainer.global_step, Path(best.best_model_path).name, f"{best.best_model_score:.4f}")
    rows = list(csv.DictReader((Path(trainer.logger.log_dir) / "metrics.csv").open()))
    print(len(rows), sorted(rows[0]), [round(float(r["train_loss_step"]), 4) for r in rows if r["train_loss_step"]])
    print((Path(trainer.logger.log_dir) / "hparams.yaml").read_text())
    print(trainer.test(model, datamodule=data, ckpt_path="best", verbose=False))
    print(torch.cat(trainer.predict(model, datamodule=data))[:3])
    loaded = Classifier.load_from_checkpoint(best.best_model_path)
    print(loaded.hparams, loaded.net[0].weight[0])
    resumed = pl.Trainer(max_epochs=7, gradient_clip_val=0.5, accumulate_grad_batches=2, logger=False, **quiet)
    resumed.fit(Classifier(), datamodule=data, ckpt_path=best.last_model_path)
    print("resumed", resumed.current_epoch, resumed.global_step, f"{resumed.callback_metrics['val_loss']:.4f}")
