"""fastai, fastcore: a Learner with its callbacks trained by one cycle, validated, saved and loaded."""

import tempfile

import torch
from fastai.basics import DataLoaders, Learner, accuracy, set_seed
from fastai.callback.all import GradientClip
from torch import nn

set_seed(42, reproducible=True)
x = torch.randn(160, 6)
rows = list(zip(x, (x.sum(1) > 0).long(), strict=True))
loaders = DataLoaders.from_dsets(rows[:120], rows[120:], bs=16, num_workers=0, device=torch.device("cpu"))
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.BatchNorm1d(12), nn.Linear(12, 2))
criterion = nn.CrossEntropyLoss()
learner = Learner(
    loaders, model, loss_func=criterion, metrics=accuracy, cbs=[GradientClip(1.0)], path=tempfile.mkdtemp()
)
with learner.no_bar(), learner.no_logging():
    learner.fit_one_cycle(2, 1e-2)
    print([f"{float(value):.5f}" for value in learner.recorder.values[-1]])
    learner.fit(1, 1e-3)
    print([f"{float(value):.5f}" for value in learner.recorder.values[-1]])
    print([f"{float(value):.5f}" for value in learner.recorder.losses[:3]])
    scores, targets = learner.get_preds()
    print(scores.sum(0), targets.sum(), learner.validate())
    learner.save("learner")
    learner.load("learner")
    print(learner.validate(), learner.opt.hypers[0]["lr"])
