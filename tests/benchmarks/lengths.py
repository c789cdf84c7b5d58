"""Measure loops whose shapes vary from step to step: funcgrad, the same text under torch, and a hand-written jit.

    python -m tests.benchmarks.lengths                    # everything, some minutes
    python -m tests.benchmarks.lengths --workloads mlp

Each workload runs from its first step to its last under each engine in a process of its own, without any cache of
compiled programs: what counts is the whole time, compiling included. compiles: how many executables XLA made for
funcgrad, large or small. By hand: `jax.jit` and optax, each shape as it is.
"""

from __future__ import annotations

import copy
import importlib
import itertools
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.benchmarks.apart import chosen, measured_apart


def mlp(torch: Any) -> Iterator[float]:
    """300 steps of an MLP 64-128-128-10 with 200 distinct batch sizes between 5 and 400, Adam."""
    nn = torch.nn
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for length in batch_sizes():
        x, y = torch.randn(length, 64), torch.randint(0, 10, (length,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        yield loss.item()


def batch_sizes() -> list[int]:
    """Return 200 distinct sizes, and 100 of them again."""
    sizes = np.random.default_rng(0).permutation(np.arange(5, 401))[:200].tolist()
    return sizes + sizes[:100]


def ragged(torch: Any) -> Iterator[float]:
    """Five epochs of 1,000 rows in batches of 64, the last of which has 40."""
    nn = torch.nn
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    data = torch.utils.data.TensorDataset(torch.randn(1000, 64), torch.randint(0, 10, (1000,)))
    loader = torch.utils.data.DataLoader(data, batch_size=64, shuffle=True)
    for _ in range(5):
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            yield loss.item()


def text(torch: Any) -> Iterator[float]:
    """200 batches of 16 sentences padded to the longest (5 to 60 words): embedding, LSTM, a class for each word."""
    nn = torch.nn
    embedding, lstm, head = nn.Embedding(500, 32, padding_idx=0), nn.LSTM(32, 64, batch_first=True), nn.Linear(64, 20)
    optimizer = torch.optim.Adam([*embedding.parameters(), *lstm.parameters(), *head.parameters()], lr=1e-3)
    generator = np.random.default_rng(0)
    for _ in range(200):
        longest = int(generator.integers(5, 61))
        words = generator.integers(1, 500, (16, longest))
        words[np.arange(longest) >= generator.integers(1, longest + 1, (16, 1))] = 0
        x, y = torch.from_numpy(words), torch.from_numpy(np.where(words, words % 20, -100))
        optimizer.zero_grad()
        logits = head(lstm(embedding(x))[0])
        loss = nn.functional.cross_entropy(logits.reshape(-1, 20), y.reshape(-1), ignore_index=-100)
        loss.backward()
        optimizer.step()
        yield loss.item()


def field(torch: Any) -> Iterator[float]:
    """80 batches of 16 sentences of up to 30 words: two bidirectional LSTMs on packed words, a random field of tags."""
    nn = torch.nn
    embedding, lstm = nn.Embedding(200, 32), nn.LSTM(32, 32, 2, batch_first=True, bidirectional=True)
    head, moves = nn.Linear(64, 7), nn.Parameter(torch.zeros(7, 7))
    params = [*embedding.parameters(), *lstm.parameters(), *head.parameters(), moves]
    optimizer, generator, rows = torch.optim.Adam(params, lr=1e-2), np.random.default_rng(0), torch.arange(16)
    for _ in range(80):
        lengths = np.sort(generator.integers(4, 31, 16))[::-1].copy()
        words = torch.from_numpy(generator.integers(1, 200, (16, int(lengths[0]))))
        tags, mask = words % 7, torch.from_numpy(np.arange(lengths[0]) < lengths[:, None])
        packed = nn.utils.rnn.pack_padded_sequence(embedding(words), torch.from_numpy(lengths), batch_first=True)
        scores = head(nn.utils.rnn.pad_packed_sequence(lstm(packed)[0], batch_first=True)[0])
        total, chosen_tags = scores[:, 0], scores[rows, 0, tags[:, 0]]
        for t in range(1, words.size(1)):
            after = (total[:, :, None] + moves + scores[:, t, None]).logsumexp(1)
            total = torch.where(mask[:, t, None], after, total)
            one = moves[tags[:, t - 1], tags[:, t]] + scores[rows, t, tags[:, t]]
            chosen_tags = chosen_tags + one * mask[:, t]
        optimizer.zero_grad()
        loss = (total.logsumexp(1) - chosen_tags).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(params, 5.0)
        optimizer.step()
        yield loss.item()


def sentences(torch: Any) -> Iterator[float]:
    """200 batches of 8 sentences of 5 to 40 words: a GRU cell in a Python loop, the loss of each next word added up."""
    nn = torch.nn
    embedding, cell, head = nn.Embedding(50, 16), nn.GRUCell(16, 32), nn.Linear(32, 50)
    optimizer = torch.optim.Adam([*embedding.parameters(), *cell.parameters(), *head.parameters()], lr=1e-3)
    generator = np.random.default_rng(0)
    for _ in range(200):
        words = torch.from_numpy(generator.integers(0, 50, (8, int(generator.integers(5, 41)))))
        optimizer.zero_grad()
        hidden, loss, embedded = torch.zeros(8, 32), torch.zeros(()), embedding(words)
        for t in range(words.size(1) - 1):
            hidden = cell(embedded[:, t], hidden)
            loss = loss + nn.functional.cross_entropy(head(hidden), words[:, t + 1])
        loss.backward()
        optimizer.step()
        yield loss.item() / words.size(1)


def translation(torch: Any) -> Iterator[float]:
    """200 sentences of 3 to 9 words, one by one: an encoder's and a decoder's GRU in Python loops, with attention.

    As the tutorial has it: by a coin the decoder is given the true words, or its own, which are read one by one.
    """
    nn, chance = torch.nn, random.Random(0)
    words, given, cell = nn.Embedding(30, 32), nn.Embedding(30, 32), nn.GRU(32, 32)
    looks, mixed, decoder, scores = nn.Linear(64, 9), nn.Linear(64, 32), nn.GRU(32, 32), nn.Linear(32, 30)
    layers = nn.ModuleList([words, given, cell, looks, mixed, decoder, scores])
    optimizer = torch.optim.SGD(layers.parameters(), lr=0.01)
    for _ in range(200):
        source, target = (torch.tensor([[chance.randrange(2, 30)] for _ in range(chance.randint(3, 9))]) for _ in "ab")
        optimizer.zero_grad()
        h, seen, loss = torch.zeros(1, 1, 32), torch.zeros(9, 32), 0
        for t in range(source.size(0)):
            output, h = cell(words(source[t]).view(1, 1, -1), h)
            seen[t] = output[0, 0]
        word, has_teacher = torch.tensor([[0]]), chance.random() < 0.5
        for t in range(target.size(0)):
            x = given(word).view(1, 1, -1)
            weights = torch.softmax(looks(torch.cat((x[0], h[0]), 1)), dim=1)
            x = torch.cat((x[0], torch.bmm(weights.unsqueeze(0), seen.unsqueeze(0))[0]), 1)
            output, h = decoder(torch.relu(mixed(x).unsqueeze(0)), h)
            output = torch.log_softmax(scores(output[0]), dim=1)
            loss = loss + nn.functional.nll_loss(output, target[t])
            word = target[t] if has_teacher else output.topk(1)[1].squeeze().detach()
            if not has_teacher and word.item() == 1:
                break
        loss.backward()
        optimizer.step()
        yield loss.item() / target.size(0)


def policy(torch: Any) -> Iterator[float]:
    """100 batches of 100 to 400 choices, scored by `Categorical.log_prob`, as policy gradients do: a step for each."""
    nn = torch.nn
    net = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 4))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    generator = np.random.default_rng(0)
    for _ in range(100):
        count = int(generator.integers(100, 401))
        seen, gains = torch.randn(count, 16), torch.randn(count)
        chosen = torch.from_numpy(generator.integers(0, 4, count))
        optimizer.zero_grad()
        scores = torch.distributions.Categorical(logits=net(seen)).log_prob(chosen)
        loss = -(scores * gains).mean()
        loss.backward()
        optimizer.step()
        yield loss.item()


def episodes(torch: Any) -> Iterator[float]:
    """Actor-critic: 100 episodes of 10 to 200 steps, an action drawn and read in each, an update after each episode."""
    nn, functional, categorical = torch.nn, torch.nn.functional, torch.distributions.Categorical
    body, actor, critic = nn.Linear(4, 64), nn.Linear(64, 2), nn.Linear(64, 1)
    optimizer = torch.optim.Adam([*body.parameters(), *actor.parameters(), *critic.parameters()], lr=1e-2)
    generator = np.random.default_rng(0)
    for _ in range(100):
        seen, actions = [], 0
        for _ in range(int(generator.integers(10, 201))):
            hidden = functional.relu(body(torch.from_numpy(generator.standard_normal(4).astype(np.float32))))
            choice = categorical(functional.softmax(actor(hidden), dim=-1))
            action = choice.sample()
            seen.append((choice.log_prob(action), critic(hidden)))
            actions += action.item()
        returns = torch.linspace(1.0, -1.0, len(seen))
        policy_losses, value_losses = [], []
        for (likely, value), gain in zip(seen, returns, strict=True):
            policy_losses.append(-likely * (gain - value.item()))
            value_losses.append(functional.smooth_l1_loss(value, torch.tensor([gain.item()])))
        optimizer.zero_grad()
        loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
        loss.backward()
        optimizer.step()
        yield loss.item() + actions


def generation(torch: Any) -> Iterator[float]:
    """A GPT of 2 layers, width 64, writes 120 characters one by one, each from all before it, without a cache."""
    nn, functional = torch.nn, torch.nn.functional
    layers = [nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True) for _ in range(2)]
    embedding, places, head = nn.Embedding(65, 64), nn.Embedding(128, 64), nn.Linear(64, 65)
    mask = torch.triu(torch.ones(128, 128), diagonal=1).bool()
    written = torch.zeros(1, 1, dtype=torch.long)
    with torch.no_grad():
        for _ in range(120):
            count = written.size(1)
            x = embedding(written) + places(torch.arange(count))
            for layer in layers:
                x = layer(x, src_mask=mask[:count, :count])
            likely = functional.softmax(head(x[:, -1]), dim=-1)
            written = torch.cat([written, torch.multinomial(likely, 1)], dim=1)
            yield likely.max().item()


def augmented(torch: Any) -> Iterator[float]:
    """60 steps of a small transformer on images of 16 x 16, two of five changes drawn for each batch, then mixup.

    The labels are made after the optimizer; a copy of the model is kept and moves after it.
    """
    nn, chance = torch.nn, random.Random(0)
    layers = [nn.TransformerEncoderLayer(48, 4, 96, dropout=0.0, batch_first=True) for _ in range(3)]
    patches, encoder, head = nn.Conv2d(3, 48, 4, stride=4), nn.Sequential(*layers), nn.Linear(48, 5)
    averaged = copy.deepcopy(head)
    optimizer = torch.optim.AdamW([*patches.parameters(), *encoder.parameters(), *head.parameters()], lr=1e-3)
    images = torch.randint(0, 256, (96, 3, 16, 16), dtype=torch.uint8)
    labels = torch.arange(96) % 5
    changes = [
        lambda x: x & 0b11110000,
        lambda x: torch.where(x < 128, x, 255 - x),
        lambda x: (x.float() * 1.3).clamp_(0, 255).to(torch.uint8),
        lambda x: x.roll(shifts=(1, -1), dims=(-2, -1)),
        lambda x: x.flip(-1),
    ]
    for _ in range(60):
        rows, order, share = torch.randint(0, 96, (32,)), torch.randperm(32), chance.betavariate(1, 1)
        x, y = images[rows], labels[rows]
        for change in chance.choices(changes, k=2):
            x = change(x)
        x = x.float() / 255
        x = share * x + (1 - share) * x[order]
        optimizer.zero_grad()
        scores = head(encoder(patches(x).flatten(2).mT).mean(1))
        entropy = nn.functional.cross_entropy
        loss = share * entropy(scores, y) + (1 - share) * entropy(scores, y[order])
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for mine, its in zip(averaged.parameters(), head.parameters(), strict=True):
                mine.lerp_(its, 0.1)
        yield loss.item()


def trees(torch: Any) -> Iterator[float]:
    """A recursive net (child-sum, width 24) over 150 random trees of 1 to 31 nodes, a step for each."""
    nn, chance = torch.nn, random.Random(0)
    leaf, joint, head = nn.Embedding(7, 24), nn.Linear(24, 24), nn.Linear(24, 3)
    optimizer = torch.optim.Adagrad([*leaf.parameters(), *joint.parameters(), *head.parameters()], lr=0.05)

    def meaning(depth: int) -> Any:
        word = leaf(torch.tensor([chance.randrange(7)]))
        if depth == 0 or chance.random() < 0.3:
            return word
        children = [meaning(depth - 1) for _ in range(chance.randint(1, 3))]
        return torch.tanh(joint(word + torch.cat(children).sum(0, keepdim=True)))

    for _ in range(150):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(head(meaning(4)), torch.tensor([chance.randrange(3)]))
        loss.backward()
        optimizer.step()
        yield loss.item()


def graphs(torch: Any) -> Iterator[float]:
    """Batches of 16 random graphs of 8 to 24 nodes, joined as one; two graph convolutions with loops, 96 steps."""
    torch.manual_seed(0)
    nn, first, last, head = torch.nn, torch.nn.Linear(8, 32), torch.nn.Linear(32, 32), torch.nn.Linear(32, 2)
    optimizer = torch.optim.Adam([*first.parameters(), *last.parameters(), *head.parameters()], lr=1e-2)
    chance = np.random.default_rng(0)
    sizes = [(int(n), int(n * chance.uniform(2, 4))) for n in chance.integers(8, 25, 256)]
    known = [(torch.randn(n, 8), torch.randint(0, n, (2, edges)), n % 2) for n, edges in sizes]

    def convolved(layer: Any, x: Any, pairs: Any) -> Any:
        source, target = torch.cat([pairs, torch.arange(len(x)).repeat(2, 1)], 1)
        scale = torch.zeros(len(x)).scatter_add_(0, target, torch.ones(len(target))).pow(-0.5)
        messages = layer(x)[source] * (scale[source] * scale[target])[:, None]
        return torch.zeros(len(x), 32).index_add_(0, target, messages).relu()

    for _ in range(96):
        drawn = [known[i] for i in chance.permutation(256)[:16].tolist()]
        begins = np.cumsum([0, *[len(x) for x, _, _ in drawn]]).tolist()
        x = torch.cat([x for x, _, _ in drawn])
        pairs = torch.cat([pairs + begin for (_, pairs, _), begin in zip(drawn, begins, strict=False)], 1)
        graph = torch.cat([torch.full((len(x),), i) for i, (x, _, _) in enumerate(drawn)])
        found = convolved(last, convolved(first, x, pairs), pairs)
        logits = head(torch.zeros(16, 32).index_add_(0, graph, found))
        loss = nn.functional.cross_entropy(logits, torch.tensor([kind for _, _, kind in drawn]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def experts(torch: Any) -> Iterator[float]:
    """A mixture of six experts, of which a gate chooses two for each of 128 rows: six counts that vary, 80 steps."""
    torch.manual_seed(0)
    nn = torch.nn
    gate, head = nn.Linear(16, 6), nn.Linear(16, 3)
    each = nn.ModuleList([nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16)) for _ in range(6)])
    optimizer = torch.optim.Adam([*gate.parameters(), *each.parameters(), *head.parameters()], lr=1e-2)
    for _ in range(80):
        x = torch.randn(128, 16)
        shares, chosen = gate(x).softmax(-1).topk(2, -1)
        found = torch.zeros_like(x)
        for i, expert in enumerate(each):
            rows, which = torch.where(chosen == i)
            found.index_add_(0, rows, expert(x[rows]) * shares[rows, which, None])
        loss = nn.functional.cross_entropy(head(found), (x[:, 0] > 0).long() + (x[:, 1] > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def boxes(torch: Any) -> Iterator[float]:
    """Suppression of overlapping boxes in a Python loop, as detectors write it: 12 images of 20 to 90 boxes."""
    torch.manual_seed(0)
    for _ in range(12):
        count = int(torch.randint(20, 90, (1,)))
        corner, size = torch.rand(count, 2) * 10, torch.rand(count, 2) * 3 + 0.5
        given, kept = torch.cat([corner, corner + size], 1), []
        order = torch.rand(count).argsort(descending=True)
        while order.numel() > 1:
            kept.append(order[0])
            best, others = given[order[0]], given[order[1:]]
            overlap = torch.minimum(best[2:], others[:, 2:]) - torch.maximum(best[:2], others[:, :2])
            shared, area = overlap.clamp(min=0).prod(1), (others[:, 2:] - others[:, :2]).prod(1)
            order = order[1:][shared <= 0.3 * (area + (best[2:] - best[:2]).prod() - shared)]
        yield given[torch.stack([*kept, *order])].mean().item()


WORKLOADS: dict[str, Callable[[Any], Iterator[float]]] = {
    "mlp": mlp, "ragged": ragged, "text": text, "field": field, "sentences": sentences, "translation": translation,
    "policy": policy, "episodes": episodes, "generation": generation, "augmented": augmented, "trees": trees,
    "graphs": graphs, "experts": experts, "boxes": boxes,
}  # fmt: skip


def mlp_by_hand() -> Iterator[float]:
    """The MLP as a jitted step, which is compiled for each batch size."""
    import jax
    import jax.numpy as jnp
    import optax

    generator = np.random.default_rng(0)
    sizes = (64, 128, 128, 10)
    params = [
        (jnp.asarray(generator.uniform(-0.1, 0.1, shape), jnp.float32), jnp.zeros(shape[1]))
        for shape in itertools.pairwise(sizes)
    ]
    transform = optax.adam(1e-3)
    state = transform.init(params)

    def loss_of(params: Any, x: Any, y: Any) -> Any:
        for weight, bias in params[:-1]:
            x = jax.nn.relu(x @ weight + bias)
        logits = x @ params[-1][0] + params[-1][1]
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    @jax.jit
    def update(params: Any, state: Any, x: Any, y: Any) -> Any:
        loss, slope = jax.value_and_grad(loss_of)(params, x, y)
        updates, state = transform.update(slope, state, params)
        return optax.apply_updates(params, updates), state, loss

    for length in batch_sizes():
        x = generator.standard_normal((length, 64)).astype(np.float32)
        params, state, loss = update(params, state, x, generator.integers(0, 10, length))
        yield float(loss)


def measure(engine: str, workload: str) -> dict[str, float]:
    """Run one workload under one engine in this process."""
    import jax

    compiled: list[str] = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, seconds, **_: compiled.append(event) if "backend_compile" in event else None
    )
    if engine == "by hand":
        steps = mlp_by_hand()
    else:
        framework = importlib.import_module(engine)
        framework.manual_seed(0)
        steps = WORKLOADS[workload](framework)
    start = time.perf_counter()
    values = list(steps)
    passed = time.perf_counter() - start
    return {"seconds": passed, "value": values[-1], "steps": len(values), "compiles": len(compiled)}


def main() -> None:
    """Print one row per workload, ratios first."""
    workloads = chosen(__doc__, WORKLOADS, measure)
    columns = ("vs torch", "vs by hand", "s", "torch s", "by hand s", "steps", "compiles", "difference")
    print(f"{'':12}" + "".join(f"{column:>12}" for column in columns))
    nan = float("nan")
    for workload in workloads:
        names = ["funcgrad", "torch", *(["by hand"] if workload == "mlp" else [])]
        found = {name: measured_apart("tests.benchmarks.lengths", name, workload) for name in names}
        ours, theirs, by_hand = (found.get(name, {}) for name in ("funcgrad", "torch", "by hand"))
        seconds = [each.get("seconds", nan) for each in (ours, theirs, by_hand)]
        row = [seconds[0] / seconds[1], seconds[0] / seconds[2], *seconds]
        print(f"{workload:12}" + "".join(f"{x:>12.2f}" for x in row) + f"{ours.get('steps', nan):>12.0f}"
              f"{ours.get('compiles', nan):>12.0f}{abs(ours.get('value', nan) - theirs.get('value', nan)):>12.1e}",
              flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
