"""Recommend films: a matrix of ratings as the product of two embeddings, with biases."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(7)
n_users, n_items, rank = 120, 80, 4
true_users, true_items = torch.randn(n_users, rank), torch.randn(n_items, rank)
users = torch.randint(0, n_users, (4000,))
items = torch.randint(0, n_items, (4000,))
ratings = (3 + (true_users[users] * true_items[items]).sum(1) / 2 + 0.1 * torch.randn(4000)).clamp(1, 5)


class Ratings(Dataset):
    def __init__(self, users, items, ratings):
        assert len(users) == len(items) == len(ratings)
        self.users, self.items, self.ratings = users, items, ratings

    def __len__(self):
        return len(self.ratings)

    def __getitem__(self, i):
        return {"user": self.users[i], "item": self.items[i], "rating": self.ratings[i]}


class MatrixFactorization(nn.Module):
    def __init__(self, n_users, n_items, n_factors=8):
        super().__init__()
        self.user_factors = nn.Embedding(n_users, n_factors)
        self.item_factors = nn.Embedding(n_items, n_factors)
        self.user_biases = nn.Embedding(n_users, 1)
        self.item_biases = nn.Embedding(n_items, 1)
        self.global_bias = nn.Parameter(torch.zeros(1))
        for embedding in (self.user_factors, self.item_factors):
            embedding.weight.data.normal_(0, 0.1)
        for embedding in (self.user_biases, self.item_biases):
            embedding.weight.data.zero_()

    def forward(self, user, item):
        pred = self.user_biases(user) + self.item_biases(item) + self.global_bias
        pred += (self.user_factors(user) * self.item_factors(item)).sum(1, keepdim=True)
        return pred.squeeze()


train = DataLoader(Ratings(users[:3600], items[:3600], ratings[:3600]), batch_size=200, shuffle=True)
model = MatrixFactorization(n_users, n_items)
model.global_bias.data.fill_(ratings[:3600].mean())
optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=1e-5)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.95)
loss_fn = nn.MSELoss()

for epoch in range(15):
    running = 0.0
    for batch in train:
        prediction = model(batch["user"], batch["item"])
        loss = loss_fn(prediction, batch["rating"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    scheduler.step()
    with torch.no_grad():
        held_out = F.mse_loss(model(users[3600:], items[3600:]), ratings[3600:]).sqrt()
    print(f"epoch {epoch:2d}  mse {running / len(train):.6f}  held-out rmse {held_out:.6f}")

with torch.no_grad():
    scores = model.user_factors.weight[5] @ model.item_factors.weight.T + model.item_biases.weight[:, 0]
    best = torch.topk(scores, 5)
print("films for user 5:", best.indices.tolist(), [round(score, 4) for score in best.values.tolist()])
