"""Word vectors by skip-gram with negative sampling (Mikolov et al. 2013)."""

from collections import Counter

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable

np.random.seed(3)
torch.manual_seed(3)

SUBJECTS = {
    "animals": ("cat dog horse cow bird fish".split(), "eats sleeps runs drinks hides".split()),
    "machines": ("car train engine lamp clock pump".split(), "stops hums breaks starts shines".split()),
}
sentences = []
for _ in range(300):
    nouns, verbs = SUBJECTS[["animals", "machines"][np.random.randint(2)]]
    first, second = np.random.choice(nouns, 2, replace=False)
    sentences.append(["the", first, np.random.choice(verbs), "near", "the", second])

counts = Counter(word for sentence in sentences for word in sentence)
vocabulary = sorted(counts)
word_to_ix = {word: i for i, word in enumerate(vocabulary)}
frequency = np.array([counts[word] for word in vocabulary], dtype=np.float64) ** 0.75
noise = torch.from_numpy(frequency / frequency.sum())

window_size, negatives, batch_size, dim = 2, 5, 128, 12
pairs = []
for sentence in sentences:
    ids = [word_to_ix[word] for word in sentence]
    for i, center in enumerate(ids):
        for j in range(max(0, i - window_size), min(len(ids), i + window_size + 1)):
            if i != j:
                pairs.append((center, ids[j]))
pairs = np.array(pairs)


class SkipGram(nn.Module):
    def __init__(self, vocab_size, embed_dim):
        super().__init__()
        self.u_embeddings = nn.Embedding(vocab_size, embed_dim)
        self.v_embeddings = nn.Embedding(vocab_size, embed_dim)
        initrange = 0.5 / embed_dim
        self.u_embeddings.weight.data.uniform_(-initrange, initrange)
        self.v_embeddings.weight.data.uniform_(-0, 0)

    def forward(self, u_pos, v_pos, v_neg):
        embed_u = self.u_embeddings(u_pos)
        embed_v = self.v_embeddings(v_pos)
        score = torch.sum(torch.mul(embed_u, embed_v), dim=1)
        log_target = F.logsigmoid(score)
        neg_embed_v = self.v_embeddings(v_neg)
        neg_score = torch.bmm(neg_embed_v, embed_u.unsqueeze(2)).squeeze()
        sum_log_sampled = F.logsigmoid(-1 * neg_score).sum(1)
        return -(log_target + sum_log_sampled).mean()


model = SkipGram(len(vocabulary), dim)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.3)
for epoch in range(6):
    order = np.random.permutation(len(pairs))
    total = 0.0
    steps = len(pairs) // batch_size
    for step in range(steps):
        batch = pairs[order[step * batch_size : (step + 1) * batch_size]]
        u_pos = Variable(torch.LongTensor(batch[:, 0]))
        v_pos = Variable(torch.LongTensor(batch[:, 1]))
        v_neg = Variable(torch.multinomial(noise, batch_size * negatives, replacement=True).view(batch_size, -1))
        optimizer.zero_grad()
        loss = model(u_pos, v_pos, v_neg)
        loss.backward()
        optimizer.step()
        total += loss.data.item()
    print(f"epoch {epoch} loss {total / steps:.6f}")

vectors = F.normalize(model.u_embeddings.weight.detach(), dim=1)
for word in ("cat", "train", "hums"):
    similarity = F.cosine_similarity(vectors[word_to_ix[word]].unsqueeze(0), vectors, dim=1)
    values, nearest = similarity.sort(descending=True)
    others = [f"{vocabulary[i]} {v:.3f}" for v, i in zip(values[1:4].tolist(), nearest[1:4].tolist(), strict=True)]
    print(f"{word}:", ", ".join(others))
