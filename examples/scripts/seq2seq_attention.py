"""Reverse a sequence of symbols: a GRU encoder, and a decoder with attention that runs in a Python loop."""

import random
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim

SOS_token, EOS_token, SYMBOLS, MAX_LENGTH = 0, 1, 10, 8
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class EncoderRNN(nn.Module):
    def __init__(self, input_size, hidden_size, dropout_p=0.1):
        super().__init__()
        self.hidden_size = hidden_size
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size, batch_first=True)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, input):
        embedded = self.dropout(self.embedding(input))
        return self.gru(embedded)


class BahdanauAttention(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.Wa = nn.Linear(hidden_size, hidden_size)
        self.Ua = nn.Linear(hidden_size, hidden_size)
        self.Va = nn.Linear(hidden_size, 1)

    def forward(self, query, keys):
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys)))
        scores = scores.squeeze(2).unsqueeze(1)
        weights = F.softmax(scores, dim=-1)
        context = torch.bmm(weights, keys)
        return context, weights


class AttnDecoderRNN(nn.Module):
    def __init__(self, hidden_size, output_size, dropout_p=0.1):
        super().__init__()
        self.embedding = nn.Embedding(output_size, hidden_size)
        self.attention = BahdanauAttention(hidden_size)
        self.gru = nn.GRU(2 * hidden_size, hidden_size, batch_first=True)
        self.out = nn.Linear(hidden_size, output_size)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, encoder_outputs, encoder_hidden, target_tensor=None):
        batch_size = encoder_outputs.size(0)
        decoder_input = torch.empty(batch_size, 1, dtype=torch.long, device=device).fill_(SOS_token)
        decoder_hidden = encoder_hidden
        decoder_outputs, attentions = [], []
        for i in range(MAX_LENGTH):
            decoder_output, decoder_hidden, attn = self.forward_step(decoder_input, decoder_hidden, encoder_outputs)
            decoder_outputs.append(decoder_output)
            attentions.append(attn)
            if target_tensor is not None:
                decoder_input = target_tensor[:, i].unsqueeze(1)  # teacher forcing
            else:
                _, topi = decoder_output.topk(1)
                decoder_input = topi.squeeze(-1).detach()
        decoder_outputs = F.log_softmax(torch.cat(decoder_outputs, dim=1), dim=-1)
        return decoder_outputs, decoder_hidden, torch.cat(attentions, dim=1)

    def forward_step(self, input, hidden, encoder_outputs):
        embedded = self.dropout(self.embedding(input))
        query = hidden.permute(1, 0, 2)
        context, attn_weights = self.attention(query, encoder_outputs)
        output, hidden = self.gru(torch.cat((embedded, context), dim=2), hidden)
        return self.out(output), hidden, attn_weights


def make_pairs(count, rng):
    pairs = []
    for _ in range(count):
        symbols = [rng.randrange(2, 2 + SYMBOLS) for _ in range(rng.randrange(4, MAX_LENGTH))]
        pairs.append((symbols, symbols[::-1]))
    return pairs


def tensors(pairs):
    inputs = torch.zeros(len(pairs), MAX_LENGTH, dtype=torch.long)
    targets = torch.zeros(len(pairs), MAX_LENGTH, dtype=torch.long)
    for i, (source, target) in enumerate(pairs):
        inputs[i, : len(source) + 1] = torch.tensor([*source, EOS_token])
        targets[i, : len(target) + 1] = torch.tensor([*target, EOS_token])
    return inputs.to(device), targets.to(device)


def train_epoch(loader, encoder, decoder, encoder_optimizer, decoder_optimizer, criterion):
    total_loss = 0
    for input_tensor, target_tensor in loader:
        encoder_optimizer.zero_grad()
        decoder_optimizer.zero_grad()
        encoder_outputs, encoder_hidden = encoder(input_tensor)
        decoder_outputs, _, _ = decoder(encoder_outputs, encoder_hidden, target_tensor)
        loss = criterion(decoder_outputs.view(-1, decoder_outputs.size(-1)), target_tensor.view(-1))
        loss.backward()
        encoder_optimizer.step()
        decoder_optimizer.step()
        total_loss += loss.item()
    return total_loss / len(loader)


def evaluate(encoder, decoder, inputs):
    with torch.no_grad():
        encoder_outputs, encoder_hidden = encoder(inputs)
        decoder_outputs, _, attention = decoder(encoder_outputs, encoder_hidden)
        _, topi = decoder_outputs.topk(1)
        return topi.squeeze(-1), attention


if __name__ == "__main__":
    torch.manual_seed(0)
    rng = random.Random(0)
    dataset = torch.utils.data.TensorDataset(*tensors(make_pairs(640, rng)))
    sampler = torch.utils.data.RandomSampler(dataset)
    loader = torch.utils.data.DataLoader(dataset, sampler=sampler, batch_size=32)
    encoder = EncoderRNN(2 + SYMBOLS, 48).to(device)
    decoder = AttnDecoderRNN(48, 2 + SYMBOLS).to(device)
    encoder_optimizer = optim.Adam(encoder.parameters(), lr=0.005)
    decoder_optimizer = optim.Adam(decoder.parameters(), lr=0.005)
    criterion = nn.NLLLoss()

    start = time.time()
    for epoch in range(1, 11):
        loss = train_epoch(loader, encoder, decoder, encoder_optimizer, decoder_optimizer, criterion)
        print(f"({epoch * 10}%) loss {loss:.6f}, {time.time() - start:.1f} s")

    encoder.eval()
    decoder.eval()
    inputs, targets = tensors(make_pairs(64, rng))
    decoded, attention = evaluate(encoder, decoder, inputs)
    print(f"symbols right: {(decoded == targets).float().mean().item():.4f}")
    for source, answer in zip(inputs[:3].tolist(), decoded[:3].tolist(), strict=True):
        print(">", *source, "\n<", *answer)
    print("attention", tuple(attention.shape), f"{attention[0].max(dim=1)[0].mean():.4f}")
