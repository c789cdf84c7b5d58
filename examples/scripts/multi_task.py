"""Two tasks on a shared trunk, learned weights of their losses, and an optimizer for each part."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_diabetes
from torch.utils.data import DataLoader, Dataset, random_split

torch.manual_seed(2)


class Patients(Dataset):
    """Ten measurements of a patient; how the illness goes on, and in which third of the patients that is."""

    def __init__(self):
        features, progress = load_diabetes(return_X_y=True, as_frame=False)
        self.x = torch.as_tensor(features * 20, dtype=torch.float32)
        self.progress = torch.as_tensor((progress - progress.mean()) / progress.std()).float().unsqueeze(-1)
        bounds = torch.quantile(self.progress.squeeze(), torch.tensor([1 / 3, 2 / 3]))
        self.third = torch.bucketize(self.progress.squeeze(), bounds)

    def __len__(self):
        return self.x.shape[0]

    def __getitem__(self, idx):
        return self.x[idx], {"progress": self.progress[idx], "third": self.third[idx]}


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, 64), nn.BatchNorm1d(64), nn.ELU(), nn.Linear(64, 32), nn.ELU())
        self.heads = nn.ModuleDict({"progress": nn.Linear(32, 1), "third": nn.Linear(32, 3)})
        self.log_vars = nn.ParameterDict({name: nn.Parameter(torch.zeros(())) for name in self.heads})

    def forward(self, x):
        shared = self.trunk(x)
        return {name: head(shared) for name, head in self.heads.items()}

    def loss(self, outputs, targets):
        """Kendall, Gal and Cipolla 2018: each loss is weighted by a learned uncertainty."""
        losses = {
            "progress": F.mse_loss(outputs["progress"], targets["progress"]),
            "third": F.cross_entropy(outputs["third"], targets["third"]),
        }
        total = sum(torch.exp(-self.log_vars[name]) * losses[name] + self.log_vars[name] for name in losses)
        return total, losses


train_set, test_set = random_split(Patients(), [350, 92], generator=torch.Generator().manual_seed(5))
train_loader = DataLoader(train_set, batch_size=50, shuffle=True)
test_loader = DataLoader(test_set, batch_size=92)
model = MultiTask()
print(model)
optimizers = {
    "trunk": torch.optim.Adam(model.trunk.parameters(), lr=2e-3),
    "heads": torch.optim.SGD(model.heads.parameters(), lr=2e-2, momentum=0.9),
    "weights": torch.optim.Adamax([*model.log_vars.values()], lr=1e-2),
}
schedulers = [torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 12) for optimizer in optimizers.values()]

for epoch in range(12):
    if epoch == 8:  # fine-tune the heads only
        for p in model.trunk.parameters():
            p.requires_grad = False
    model.train()
    sums = torch.zeros(3)
    for x, targets in train_loader:
        for optimizer in optimizers.values():
            optimizer.zero_grad()
        total, losses = model.loss(model(x), targets)
        total.backward()
        for optimizer in optimizers.values():
            optimizer.step()
        sums += torch.stack([total.detach(), losses["progress"].detach(), losses["third"].detach()])
    for scheduler in schedulers:
        scheduler.step()
    model.eval()
    with torch.no_grad():
        for x, targets in test_loader:
            outputs = model(x)
            rmse = (outputs["progress"] - targets["progress"]).pow(2).mean().sqrt()
            accuracy = (outputs["third"].argmax(-1) == targets["third"]).float().mean()
    total, progress, third = (sums / len(train_loader)).tolist()
    print(
        f"epoch {epoch:2d} total {total:.5f} progress {progress:.5f} third {third:.5f} "
        f"rmse {rmse:.5f} acc {accuracy:.4f}"
    )
print({name: round(p.item(), 5) for name, p in model.log_vars.items()})
