"""Mixup and label smoothing, with automatic mixed precision on request (--amp)."""

import argparse
import logging
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from sklearn.datasets import load_digits

parser = argparse.ArgumentParser()
parser.add_argument("--amp", action="store_true", help="bfloat16 where it is safe")
parser.add_argument("--alpha", default=0.4, type=float, help="mixup interpolation coefficient")
parser.add_argument("--smoothing", default=0.1, type=float)
parser.add_argument("--epochs", default=8, type=int)
args = parser.parse_args()
logging.basicConfig(stream=sys.stdout, format="%(levelname)s %(message)s", level=logging.INFO)
logger = logging.getLogger("mixup")

np.random.seed(0)
torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
digits = load_digits()
pictures = torch.tensor(digits.images[:, None] / 16.0, dtype=torch.float32, device=device)
labels = torch.tensor(digits.target, device=device)
train_x, train_y, test_x, test_y = pictures[:1400], labels[:1400], pictures[1400:], labels[1400:]


def mixup_data(x, y, alpha=1.0):
    """Mixed inputs, both targets, and the share of the first."""
    lam = np.random.beta(alpha, alpha) if alpha > 0 else 1
    index = torch.randperm(x.size()[0]).to(x.device)
    mixed_x = lam * x + (1 - lam) * x[index, :]
    return mixed_x, y, y[index], lam


def mixup_criterion(criterion, pred, y_a, y_b, lam):
    return lam * criterion(pred, y_a) + (1 - lam) * criterion(pred, y_b)


net = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1),
    nn.GELU(),
    nn.AvgPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1),
    nn.GroupNorm(4, 32),
    nn.GELU(),
    nn.AdaptiveAvgPool2d(2),
    nn.Flatten(),
    nn.Linear(128, 10),
).to(device)
criterion = nn.CrossEntropyLoss(label_smoothing=args.smoothing)
optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
scaler = torch.amp.GradScaler(device.type, enabled=args.amp and device.type == "cuda")

for epoch in range(args.epochs):
    net.train()
    train_loss, correct, total = 0.0, 0.0, 0
    for inputs, targets in zip(train_x.split(100), train_y.split(100), strict=True):
        inputs, targets_a, targets_b, lam = mixup_data(inputs, targets, args.alpha)
        with torch.autocast(device_type=device.type, dtype=torch.bfloat16, enabled=args.amp):
            outputs = net(inputs)
            loss = mixup_criterion(criterion, outputs, targets_a, targets_b, lam)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        train_loss += loss.item()
        _, predicted = torch.max(outputs.data, 1)
        total += targets.size(0)
        correct += lam * predicted.eq(targets_a).cpu().sum().float() + (1 - lam) * predicted.eq(targets_b).sum().float()
    net.eval()
    with torch.inference_mode():
        test_accuracy = (net(test_x).argmax(1) == test_y).float().mean().item()
    logger.info(
        "epoch %d loss %.5f train acc %.3f test acc %.3f lr %.5f",
        epoch, train_loss / 14, correct / total, test_accuracy, scheduler.get_last_lr()[0],
    )  # fmt: skip
    scheduler.step()
