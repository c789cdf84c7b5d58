"""A small residual network with random crops and flips, trained on pictures of coloured shapes made here."""

import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


def draw_shapes(count, size=16, seed=0):
    """Pictures (count, 3, size, size) of a square, a disc, a cross or a ring on a noisy background."""
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, 4, count)
    rows, columns = np.mgrid[:size, :size]
    pictures = rng.rand(count, 3, size, size).astype(np.float32) * 0.4
    for picture, label in zip(pictures, labels, strict=True):
        row, column = rng.randint(5, size - 5, 2)
        radius = rng.randint(3, 5)
        dr, dc = abs(rows - row), abs(columns - column)
        distance = np.sqrt(dr**2 + dc**2)
        mask = [
            (dr <= radius) & (dc <= radius),
            distance <= radius,
            ((dr <= 1) & (dc <= radius)) | ((dc <= 1) & (dr <= radius)),
            (distance <= radius) & (distance > radius - 2),
        ][label]
        picture[:, mask] += rng.rand(3, 1).astype(np.float32)
    return pictures, labels


class Shapes(Dataset):
    mean, std = 0.3, 0.3

    def __init__(self, count, train, seed):
        self.pictures, self.labels = draw_shapes(count, seed=seed)
        self.train = train
        self.rng = np.random.RandomState(seed)

    def __len__(self):
        return len(self.pictures)

    def augment(self, picture, pad=2):
        if self.rng.rand() < 0.5:
            picture = picture[:, :, ::-1]
        padded = np.pad(picture, ((0, 0), (pad, pad), (pad, pad)), mode="reflect")
        top, left = self.rng.randint(0, 2 * pad + 1, 2)
        size = picture.shape[1]
        return padded[:, top : top + size, left : left + size]

    def __getitem__(self, index):
        picture = self.pictures[index]
        if self.train:
            picture = self.augment(picture)
        picture = (picture - self.mean) / self.std
        return torch.from_numpy(np.ascontiguousarray(picture)), torch.tensor(self.labels[index])


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, in_planes, planes, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(in_planes, planes, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, kernel_size=3, stride=1, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.shortcut = nn.Sequential()
        if stride != 1 or in_planes != self.expansion * planes:
            self.shortcut = nn.Sequential(
                nn.Conv2d(in_planes, self.expansion * planes, kernel_size=1, stride=stride, bias=False),
                nn.BatchNorm2d(self.expansion * planes),
            )

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.shortcut(x)
        return F.relu(out)


class ResNet(nn.Module):
    def __init__(self, block, num_blocks, num_classes=4, width=8):
        super().__init__()
        self.in_planes = width
        self.conv1 = nn.Conv2d(3, width, kernel_size=3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.layer1 = self._make_layer(block, width, num_blocks[0], stride=1)
        self.layer2 = self._make_layer(block, 2 * width, num_blocks[1], stride=2)
        self.layer3 = self._make_layer(block, 4 * width, num_blocks[2], stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(4 * width * block.expansion, num_classes)

        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(m, nn.BatchNorm2d):
                nn.init.constant_(m.weight, 1)
                nn.init.constant_(m.bias, 0)

    def _make_layer(self, block, planes, num_blocks, stride):
        layers = []
        for s in [stride] + [1] * (num_blocks - 1):
            layers.append(block(self.in_planes, planes, s))
            self.in_planes = planes * block.expansion
        return nn.Sequential(*layers)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.layer3(self.layer2(self.layer1(x)))
        x = torch.flatten(self.avgpool(x), 1)
        return self.fc(x)


class AverageMeter:
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, value, n=1):
        self.sum += value * n
        self.count += n

    @property
    def avg(self):
        return self.sum / self.count


def accuracy(output, target, topk=(1,)):
    """The share of the targets among the k best guesses, in percent, for each k."""
    with torch.no_grad():
        _, pred = output.topk(max(topk), 1, True, True)
        correct = pred.t().eq(target.view(1, -1).expand_as(pred.t()))
        return [correct[:k].reshape(-1).float().sum(0).mul_(100.0 / target.size(0)).item() for k in topk]


def run_epoch(model, loader, criterion, device, optimizer=None):
    losses, top1, top2 = AverageMeter(), AverageMeter(), AverageMeter()
    model.train(optimizer is not None)
    with torch.set_grad_enabled(optimizer is not None):
        for images, target in loader:
            images = images.to(device, non_blocking=True)
            target = target.to(device, non_blocking=True)
            output = model(images)
            loss = criterion(output, target)
            acc1, acc2 = accuracy(output, target, topk=(1, 2))
            losses.update(loss.item(), images.size(0))
            top1.update(acc1, images.size(0))
            top2.update(acc2, images.size(0))
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    return losses.avg, top1.avg, top2.avg


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"

    train_loader = DataLoader(Shapes(512, True, seed=1), args.batch_size, shuffle=True, drop_last=True)
    val_loader = DataLoader(Shapes(256, False, seed=2), batch_size=64, shuffle=False)
    model = ResNet(BasicBlock, [1, 1, 1]).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=0.9, weight_decay=5e-4, nesterov=True)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[2, 3], gamma=0.2)

    for epoch in range(args.epochs):
        loss, acc1, acc2 = run_epoch(model, train_loader, criterion, device, optimizer)
        print(f"Epoch [{epoch}] train  loss {loss:.5f}  acc@1 {acc1:.2f}  acc@2 {acc2:.2f}")
        loss, acc1, acc2 = run_epoch(model, val_loader, criterion, device)
        print(f"Epoch [{epoch}] val    loss {loss:.5f}  acc@1 {acc1:.2f}  acc@2 {acc2:.2f}")
        scheduler.step()


if __name__ == "__main__":
    main()
