"""entmax, pytorch-crf: sparse attention and losses whose sparsity is learnt; a tagger with a random field."""

import torch
from entmax import Entmax15, Entmax15Loss, SparsemaxLoss, entmax15, entmax_bisect, normmax_bisect, sparsemax
from torch import nn
from torchcrf import CRF

torch.manual_seed(0)
x = torch.tensor([[-2.0, 0.0, 0.5, 1.2], [3.0, 3.0, 0.1, -1.0]])
for name, function in {"softmax": torch.softmax, "entmax15": entmax15, "sparsemax": sparsemax}.items():
    print(name, function(x, dim=-1))
print("bisected", entmax_bisect(x, alpha=1.3, dim=-1), normmax_bisect(x, alpha=2, dim=-1))


class Attention(nn.Module):
    """Heads with an alpha of their own each."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.project, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.alpha = nn.Parameter(torch.linspace(1.2, 1.8, heads))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.project(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / (width // self.heads) ** 0.5
        self.weights = entmax_bisect(scores, self.alpha.view(1, -1, 1, 1).expand(batch, -1, length, 1), dim=-1)
        return self.out((self.weights @ v).transpose(1, 2).reshape(batch, length, width))


embedding, attention, head = nn.Embedding(20, 16), Attention(16, 2), nn.Linear(16, 5)
parameters = [*embedding.parameters(), *attention.parameters(), *head.parameters()]
words, tags = torch.randint(0, 20, (8, 9)), torch.randint(0, 5, (8, 9))
for name, loss in {"entmax": Entmax15Loss(), "sparsemax": SparsemaxLoss()}.items():
    optimizer = torch.optim.Adam(parameters, lr=1e-2)
    for _ in range(6):
        optimizer.zero_grad()
        value = loss(head(attention(embedding(words))).flatten(0, 1), tags.flatten())
        value.backward()
        optimizer.step()
    print(f"{name} {value.item():.4f} alpha {attention.alpha.tolist()} zeros {(attention.weights == 0).sum().item()}")
print("module", Entmax15(dim=0)(x.T))

torch.manual_seed(1)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8, padding_idx=0)
        self.lstm = nn.LSTM(8, 8, bidirectional=True, batch_first=True)
        self.emit, self.crf = nn.Linear(16, 5), CRF(5, batch_first=True)

    def forward(self, words, tags=None):
        mask = words != 0
        emissions = self.emit(self.lstm(self.embed(words))[0])
        return (
            self.crf.decode(emissions, mask)
            if tags is None
            else -self.crf(emissions, tags, mask, reduction="token_mean")
        )


model = Tagger()
print(model)
lengths = torch.tensor([9, 7, 8, 5, 9, 3, 6, 9])
words = words.clamp(min=1) * (torch.arange(9) < lengths[:, None])
optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
for step in range(10):
    optimizer.zero_grad()
    loss = model(words, tags)
    loss.backward()
    optimizer.step()
    if step % 3 == 0:
        print(f"crf {step} {loss.item():.4f}")
print(model(words))
print(f"{model.crf.transitions.norm().item():.4f} {model.crf.start_transitions.tolist()}")
