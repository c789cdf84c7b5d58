"""nn.TransformerEncoder as a word-level language model with positional encoding and a causal mask."""

import math
import os
import time
from tempfile import TemporaryDirectory

import torch
from torch import Tensor, nn
from torch.nn import TransformerEncoder, TransformerEncoderLayer
from torch.utils.data import dataset


class Counting(dataset.Dataset):
    """Sentences of a tiny made-up language: a start, a stride, and the numbers that follow, modulo the vocabulary."""

    def __init__(self, length: int, vocabulary: int, seq: int) -> None:
        self.starts = torch.randint(0, vocabulary, (length,))
        self.strides = torch.randint(1, 6, (length,))
        self.vocabulary, self.seq = vocabulary, seq

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, i: int) -> tuple[Tensor, Tensor]:
        words = (self.starts[i] + self.strides[i] * torch.arange(self.seq + 1)) % self.vocabulary
        return words[:-1], words[1:]


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, dropout: float = 0.1, max_len: int = 500) -> None:
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * div_term)
        pe[:, 0, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x: Tensor) -> Tensor:
        """Shape: x and result (length, batch, d_model)."""
        x = x + self.pe[: x.size(0)]
        return self.dropout(x)


class TransformerModel(nn.Module):
    def __init__(self, ntoken: int, d_model: int, nhead: int, d_hid: int, nlayers: int, dropout: float = 0.2) -> None:
        super().__init__()
        self.model_type = "Transformer"
        self.pos_encoder = PositionalEncoding(d_model, dropout)
        encoder_layers = TransformerEncoderLayer(d_model, nhead, d_hid, dropout)
        self.transformer_encoder = TransformerEncoder(encoder_layers, nlayers)
        self.embedding = nn.Embedding(ntoken, d_model)
        self.d_model = d_model
        self.linear = nn.Linear(d_model, ntoken)
        self.init_weights()

    def init_weights(self) -> None:
        initrange = 0.1
        self.embedding.weight.data.uniform_(-initrange, initrange)
        self.linear.bias.data.zero_()
        self.linear.weight.data.uniform_(-initrange, initrange)

    def forward(self, src: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(len(src)).to(src.device)
        src = self.embedding(src) * math.sqrt(self.d_model)
        src = self.pos_encoder(src)
        return self.linear(self.transformer_encoder(src, mask))


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
vocabulary = 23
train_data, val_data = Counting(640, vocabulary, 20), Counting(64, vocabulary, 20)
model = TransformerModel(vocabulary, d_model=48, nhead=2, d_hid=96, nlayers=2, dropout=0.1).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.95)


def train(epoch: int, log_interval: int = 10) -> None:
    model.train()
    total_loss = 0.0
    start_time = time.time()
    loader = torch.utils.data.DataLoader(train_data, batch_size=32, shuffle=True)
    for batch, (data, targets) in enumerate(loader, 1):
        data, targets = data.t().to(device), targets.t().reshape(-1).to(device)
        output = model(data)
        loss = criterion(output.view(-1, vocabulary), targets)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        total_loss += loss.item()
        if batch % log_interval == 0:
            lr = scheduler.get_last_lr()[0]
            ms_per_batch = (time.time() - start_time) * 1000 / log_interval
            cur_loss = total_loss / log_interval
            print(f"| epoch {epoch:3d} | {batch:3d}/{len(loader)} batches | lr {lr:.4f} | {ms_per_batch:5.2f} ms | "
                  f"loss {cur_loss:.5f} | ppl {math.exp(cur_loss):.4f}")  # fmt: skip
            total_loss = 0
            start_time = time.time()


@torch.no_grad()
def evaluate() -> float:
    model.eval()
    data, targets = zip(*val_data, strict=True)
    output = model(torch.stack(data, dim=1).to(device))
    return criterion(output.flatten(0, 1), torch.stack(targets, dim=1).flatten().to(device)).item()


best_val_loss = float("inf")
with TemporaryDirectory() as tempdir:
    best_model_params_path = os.path.join(tempdir, "best_model_params.pt")
    for epoch in range(1, 9):
        train(epoch)
        val_loss = evaluate()
        print(f"| end of epoch {epoch:3d} | valid loss {val_loss:.5f} | valid ppl {math.exp(val_loss):.4f}")
        if val_loss < best_val_loss:
            best_val_loss = val_loss
            torch.save(model.state_dict(), best_model_params_path)
        scheduler.step()
    model.load_state_dict(torch.load(best_model_params_path))
print(f"best model: valid loss {evaluate():.5f}")
