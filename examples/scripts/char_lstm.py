"""A character-level LSTM language model, trained by truncated back-propagation through time."""

import argparse
import math

import torch
import torch.nn as nn

TEXT = (
    "the rain came down upon the hill and ran along the little mill and where the water met the stone "
    "the wheel went round and round alone and all the night and all the day the miller turned the grain away "
    "until the sacks were full of meal and slow and slower went the wheel "
) * 20


class RNNModel(nn.Module):
    def __init__(self, vocabulary, embedding, hidden, layers, dropout):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(vocabulary, embedding)
        self.rnn = nn.LSTM(embedding, hidden, layers, dropout=dropout)
        self.decoder = nn.Linear(hidden, vocabulary)
        self.layers, self.hidden = layers, hidden
        self.init_weights()

    def init_weights(self):
        initrange = 0.1
        nn.init.uniform_(self.encoder.weight, -initrange, initrange)
        nn.init.zeros_(self.decoder.bias)
        nn.init.uniform_(self.decoder.weight, -initrange, initrange)

    def forward(self, input, hidden):
        emb = self.drop(self.encoder(input))
        output, hidden = self.rnn(emb, hidden)
        decoded = self.decoder(self.drop(output))
        return decoded.view(-1, decoded.size(-1)), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return (weight.new_zeros(self.layers, bsz, self.hidden), weight.new_zeros(self.layers, bsz, self.hidden))


def batchify(data, bsz):
    nbatch = data.size(0) // bsz
    return data.narrow(0, 0, nbatch * bsz).view(bsz, -1).t().contiguous()


def get_batch(source, i, bptt):
    seq_len = min(bptt, len(source) - 1 - i)
    return source[i : i + seq_len], source[i + 1 : i + 1 + seq_len].view(-1)


def repackage_hidden(h):
    """Cut the hidden state off its history."""
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=5.0)
    parser.add_argument("--clip", type=float, default=0.25)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch_size", type=int, default=8)
    parser.add_argument("--bptt", type=int, default=25)
    parser.add_argument("--dropout", type=float, default=0.2)
    parser.add_argument("--seed", type=int, default=1111)
    args = parser.parse_args()
    torch.manual_seed(args.seed)

    alphabet = sorted(set(TEXT))
    index = {c: i for i, c in enumerate(alphabet)}
    ids = torch.tensor([index[c] for c in TEXT], dtype=torch.long)
    train_data = batchify(ids[: len(ids) * 9 // 10], args.batch_size)
    val_data = batchify(ids[len(ids) * 9 // 10 :], args.batch_size)

    model = RNNModel(len(alphabet), 24, 48, 2, args.dropout)
    criterion = nn.CrossEntropyLoss()
    lr, best_val_loss = args.lr, None

    def evaluate(data_source):
        model.eval()
        total_loss = 0.0
        hidden = model.init_hidden(args.batch_size)
        with torch.no_grad():
            for i in range(0, data_source.size(0) - 1, args.bptt):
                data, targets = get_batch(data_source, i, args.bptt)
                output, hidden = model(data, hidden)
                hidden = repackage_hidden(hidden)
                total_loss += len(data) * criterion(output, targets).item()
        return total_loss / (len(data_source) - 1)

    for epoch in range(1, args.epochs + 1):
        model.train()
        total_loss = 0.0
        hidden = model.init_hidden(args.batch_size)
        for batch, i in enumerate(range(0, train_data.size(0) - 1, args.bptt)):
            data, targets = get_batch(train_data, i, args.bptt)
            model.zero_grad()
            hidden = repackage_hidden(hidden)
            output, hidden = model(data, hidden)
            loss = criterion(output, targets)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
            for p in model.parameters():
                p.data.add_(p.grad, alpha=-lr)
            total_loss += loss.item()
            if batch % 10 == 0 and batch > 0:
                cur_loss = total_loss / 10
                print(f"| epoch {epoch:3d} | {batch:3d} batches | loss {cur_loss:.5f} | ppl {math.exp(cur_loss):8.4f}")
                total_loss = 0.0
        val_loss = evaluate(val_data)
        print(f"| end of epoch {epoch:3d} | lr {lr:.4f} | valid loss {val_loss:.5f}")
        if not best_val_loss or val_loss < best_val_loss:
            best_val_loss = val_loss
        else:
            lr /= 4.0  # anneal when there has been no improvement

    model.eval()
    hidden = model.init_hidden(1)
    input = torch.full((1, 1), index["t"], dtype=torch.long)
    words = []
    with torch.no_grad():
        for _ in range(60):
            output, hidden = model(input, hidden)
            word_weights = output.squeeze().div(0.5).exp().cpu()
            word_idx = torch.multinomial(word_weights, 1)[0]
            input.fill_(word_idx)
            words.append(alphabet[word_idx])
    print("sample:", "".join(words))


if __name__ == "__main__":
    main()
