"""Classify the UCI wine samples with a small multi-layer perceptron."""

import argparse

import torch
import torch.nn as nn
import torch.optim as optim
from sklearn.datasets import load_wine
from torch.utils.data import DataLoader, TensorDataset, random_split


class MLP(nn.Module):
    def __init__(self, features, hidden, classes, dropout=0.1):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(features, hidden),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, classes),
        )

    def forward(self, x):
        return self.net(x)


def train(model, loader, criterion, optimizer, device):
    model.train()
    total = 0.0
    for inputs, targets in loader:
        inputs, targets = inputs.to(device), targets.to(device)
        optimizer.zero_grad()
        loss = criterion(model(inputs), targets)
        loss.backward()
        optimizer.step()
        total += loss.item() * inputs.size(0)
    return total / len(loader.dataset)


@torch.no_grad()
def evaluate(model, loader, criterion, device):
    model.eval()
    total, correct = 0.0, 0
    for inputs, targets in loader:
        inputs, targets = inputs.to(device), targets.to(device)
        outputs = model(inputs)
        total += criterion(outputs, targets).item() * inputs.size(0)
        correct += outputs.argmax(dim=1).eq(targets).sum().item()
    return total / len(loader.dataset), correct / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    features, labels = load_wine(return_X_y=True)
    features = torch.tensor(features, dtype=torch.float32)
    features = (features - features.mean(dim=0)) / features.std(dim=0)
    dataset = TensorDataset(features, torch.from_numpy(labels).long())
    train_set, test_set = random_split(dataset, [142, 36])
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=36)

    model = MLP(features.shape[1], 32, 3).to(device)
    print(model)
    print("parameters:", sum(p.numel() for p in model.parameters() if p.requires_grad))
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=1e-4)
    scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=10, gamma=0.5)

    for epoch in range(1, args.epochs + 1):
        train_loss = train(model, train_loader, criterion, optimizer, device)
        test_loss, accuracy = evaluate(model, test_loader, criterion, device)
        scheduler.step()
        print(
            f"epoch {epoch:2d}  train loss {train_loss:.6f}  test loss {test_loss:.6f}  "
            f"accuracy {accuracy:.3f}  lr {scheduler.get_last_lr()[0]:.4f}"
        )


if __name__ == "__main__":
    main()
