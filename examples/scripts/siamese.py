"""A siamese network of digits: first with a contrastive loss on pairs, then with a triplet loss."""

import argparse
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    """Two pictures, and 1 if they show different digits."""

    def __init__(self, images, labels, size):
        self.images, self.labels, self.size = images, labels, size

    def __getitem__(self, index):
        first = random.randrange(len(self.labels))
        should_get_same_class = random.randint(0, 1)
        while True:
            second = random.randrange(len(self.labels))
            if (self.labels[first] == self.labels[second]) == bool(should_get_same_class):
                break
        different = np.array([int(self.labels[first] != self.labels[second])], dtype=np.float32)
        return self.images[first], self.images[second], torch.from_numpy(different)

    def __len__(self):
        return self.size


class SiameseNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.cnn1 = nn.Sequential(
            nn.ReflectionPad2d(1),
            nn.Conv2d(1, 8, kernel_size=3),
            nn.ReLU(inplace=True),
            nn.BatchNorm2d(8),
            nn.ReflectionPad2d(1),
            nn.Conv2d(8, 16, kernel_size=3, stride=2),
            nn.ReLU(inplace=True),
            nn.BatchNorm2d(16),
        )
        self.fc1 = nn.Sequential(nn.Linear(16 * 4 * 4, 64), nn.ReLU(inplace=True), nn.Linear(64, 8))

    def forward_once(self, x):
        output = self.cnn1(x)
        output = output.view(output.size()[0], -1)
        return self.fc1(output)

    def forward(self, input1, input2):
        return self.forward_once(input1), self.forward_once(input2)


class ContrastiveLoss(torch.nn.Module):
    """Hadsell, Chopra and LeCun 2006: pull alike pairs together, push others at least a margin apart."""

    def __init__(self, margin=2.0):
        super().__init__()
        self.margin = margin

    def forward(self, output1, output2, label):
        euclidean_distance = F.pairwise_distance(output1, output2, keepdim=True)
        return torch.mean(
            (1 - label) * torch.pow(euclidean_distance, 2)
            + label * torch.pow(torch.clamp(self.margin - euclidean_distance, min=0.0), 2)
        )


def nearest_accuracy(net, images, labels, device):
    """The share of test pictures whose nearest training picture shows the same digit."""
    net.eval()
    with torch.no_grad():
        embedded = net.forward_once(images.to(device))
    known, asked = embedded[:1200], embedded[1200:]
    nearest = torch.cdist(asked, known).argmin(dim=1).cpu()
    net.train()
    return (labels[:1200][nearest] == labels[1200:]).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch_size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=5e-4)
    args = parser.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    digits = load_digits()
    images = torch.from_numpy(digits.images).float()[:, None] / 16
    labels = torch.from_numpy(digits.target).long()

    net = SiameseNetwork().to(device)
    criterion = ContrastiveLoss()
    optimizer = torch.optim.Adam(net.parameters(), lr=args.lr)
    train_dataloader = DataLoader(
        Pairs(images[:1200], digits.target[:1200], 1280), shuffle=True, num_workers=0, batch_size=args.batch_size
    )
    for epoch in range(args.epochs):
        for i, (img0, img1, label) in enumerate(train_dataloader):
            img0, img1, label = img0.to(device), img1.to(device), label.to(device)
            optimizer.zero_grad()
            output1, output2 = net(img0, img1)
            loss_contrastive = criterion(output1, output2, label)
            loss_contrastive.backward()
            optimizer.step()
            if i % 5 == 0:
                print(f"Epoch {epoch} batch {i:2d} contrastive loss {loss_contrastive.item():.5f}")
        print(f"nearest neighbour accuracy {nearest_accuracy(net, images, labels, device):.4f}")

    criterion = nn.TripletMarginLoss(margin=1.0, p=2)
    optimizer = torch.optim.Adam(net.parameters(), lr=args.lr)
    by_digit = [np.flatnonzero(digits.target[:1200] == digit) for digit in range(10)]
    for step in range(30):
        anchors, positives, negatives = [], [], []
        for _ in range(args.batch_size):
            same, other = random.sample(range(10), 2)
            anchor, positive = np.random.RandomState(random.randrange(10**6)).choice(by_digit[same], 2)
            anchors.append(anchor)
            positives.append(positive)
            negatives.append(random.choice(by_digit[other]))
        anchor, positive, negative = (net.forward_once(images[list(ids)]) for ids in (anchors, positives, negatives))
        loss = criterion(anchor, positive, negative)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(f"step {step:2d} triplet loss {loss.item():.5f}")
    print(f"nearest neighbour accuracy {nearest_accuracy(net, images, labels, device):.4f}")


if __name__ == "__main__":
    main()
