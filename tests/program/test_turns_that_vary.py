"""Loops whose number of turns differs from step to step: the same numbers, and no compile of the whole for each."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import funcgrad as torch
from funcgrad import nn
from funcgrad._base.bounded import Bounded
from funcgrad._base.config import settings
from funcgrad._ops.table import TABLE
from funcgrad._program import parts, plan, planned, stepwise, trie
from funcgrad._program.counters import counted
from funcgrad._program.lengths.family import forget_lengths
from funcgrad._program.trie import forest
from funcgrad._program.value import aval
from tests.benchmarks.apart import ROOT
from tests.program.trainings import losses_of, recorded


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Begin without any program, part or number of turns seen before."""
    monkeypatch.setattr(forest, "_roots", {})
    parts.forget_parts()
    plan.forget_executables()
    stepwise.forget_plans()
    forget_lengths()
    yield


def episodes(lengths: list[int]) -> list[list[np.ndarray[Any, Any]]]:
    """Train an actor-critic on made-up episodes; return the losses, gradients and weights after each."""
    torch.manual_seed(0)
    body, actor, critic = nn.Linear(3, 8), nn.Linear(8, 2), nn.Linear(8, 1)
    params = [param for layer in (body, actor, critic) for param in layer.parameters()]
    optimizer = torch.optim.Adam(params, lr=0.01)
    seen = []
    for length in lengths:
        saved = []
        for t in range(length):
            hidden = torch.relu(body(torch.tensor([0.1 * t, 1.0, -0.5])))
            chances = torch.softmax(actor(hidden), -1)
            action = int(chances[0].item() < 0.5)
            saved.append((chances[action].log(), critic(hidden)))
        returns = torch.tensor([float(length - t) for t in range(length)])
        returns = (returns - returns.mean()) / (returns.std() + 1e-6)
        losses = []
        for (log_chance, value), gain in zip(saved, returns, strict=True):
            losses.append(-log_chance * (gain - value.item()))
            losses.append(nn.functional.smooth_l1_loss(value, gain.reshape(1)))
        optimizer.zero_grad()
        loss = torch.stack(losses).sum()
        loss.backward()
        optimizer.step()
        seen.append([loss.detach().numpy().copy(), *[p.detach().numpy().copy() for p in params]])
    return seen


def test_episodes_of_many_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = [5, 9, 7, 12, 4, 17]
    found = episodes(lengths)
    monkeypatch.setattr(settings, "turns", 0)
    monkeypatch.setattr(forest, "_roots", {})
    for one, other in zip(found, episodes(lengths), strict=True):
        for x, y in zip(one, other, strict=True):
            np.testing.assert_allclose(x, y, rtol=2e-4, atol=1e-5)


def test_a_sum_that_is_scaled_on_the_way_is_no_sum_of_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    x, weight = torch.randn(40, 3, 4), torch.randn(4, 4).requires_grad_()

    def trained(turns: int) -> list[np.ndarray[Any, Any]]:
        total, h, weight.grad = torch.zeros(3, 4), torch.zeros(3, 4), None
        for t in range(turns):
            h = torch.tanh(h @ weight + x[t])
            total = torch.add(total, h, alpha=0.5)
        total.sum().backward()
        return [total.detach().numpy().copy(), weight.grad.numpy().copy()]

    lengths = [20, 31, 27, 35, 22]
    found = [trained(turns) for turns in lengths]
    monkeypatch.setattr(settings, "turns", 0)
    monkeypatch.setattr(forest, "_roots", {})
    for one, turns in zip(found, lengths, strict=True):
        for seen, expected in zip(one, trained(turns), strict=True):
            np.testing.assert_allclose(seen, expected, rtol=2e-4, atol=1e-4)


def recurrent(x: torch.Tensor, cell: nn.Module) -> torch.Tensor:
    h = torch.zeros(2, 4)
    for t in range(x.shape[1]):
        h = cell(x[:, t], h)
    return h


def test_sequences_of_many_lengths_share_their_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    cell = nn.GRUCell(3, 4)
    inputs = {length: torch.randn(2, length, 3) for length in (20, 30, 25, 27)}

    def gradients(length: int) -> list[Any]:
        for param in cell.parameters():
            param.grad = None
        recurrent(inputs[length], cell).square().sum().backward()
        return [param.grad.numpy().copy() for param in cell.parameters()]

    found = {length: gradients(length) for length in inputs}
    with counted() as seen:
        again = gradients(25)
    assert seen.parts == seen.compiles == 0
    for one, other in zip(again, found[25], strict=True):
        np.testing.assert_array_equal(one, other)
    monkeypatch.setattr(settings, "turns", 0)
    monkeypatch.setattr(forest, "_roots", {})
    for length, kept in found.items():
        for one, other in zip(kept, gradients(length), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


def test_numbers_that_differ_make_no_new_parts() -> None:
    x = torch.ones(3)

    def run(turns: int, factor: float) -> float:
        y = x
        for t in range(turns):
            y = torch.sin(y * factor + 0.01 * t) * 0.9 + factor
        return y.sum().item()

    run(20, 0.5)
    run(21, 0.6)
    run(22, 0.8)  # what was the same number in each turn has become an input of each turn
    with counted() as seen:
        found = run(23, 0.7)
    assert seen.parts == 0
    y = np.ones(3)
    for t in range(23):
        y = np.sin(y * 0.7 + 0.01 * t) * 0.9 + 0.7
    assert found == pytest.approx(y.sum(), rel=1e-5)


def test_results_of_single_turns_are_kept() -> None:
    def run(turns: int) -> list[float]:
        w = torch.tensor([0.5, -1.0], requires_grad=True)
        x, kept = w * 1.0, []
        for t in range(turns):
            x = torch.tanh(x * 1.5) + t
            kept.append(x)
        (x.sum() + kept[3].sum()).backward()
        return [*[y.sum().item() for y in kept], w.grad.sum().item()]

    run(20)
    found = run(26)
    settings_before = settings.turns
    try:
        settings.turns, forest._roots = 0, {}
        wanted = run(26)
    finally:
        settings.turns = settings_before
    assert found == pytest.approx(wanted, rel=1e-5)


def test_a_number_of_turns_that_comes_back_often_is_compiled_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.randn(40, 4)

    def summed(turns: int) -> float:
        h = torch.zeros(4)
        for t in range(turns):
            h = torch.tanh(h + x[t]) * 0.9
        return h.sum().item()

    monkeypatch.setitem(planned._OFTEN, parts.InParts, 3)
    expected = [summed(turns) for turns in (30, 33, 36)]
    compiles = []
    for _ in range(5):
        with counted() as seen:
            assert summed(36) == pytest.approx(expected[2], abs=1e-6)
        compiles.append(seen.compiles)
    assert compiles == [0, 0, 1, 0, 0]


def test_after_a_few_episodes_a_new_length_compiles_nothing() -> None:
    episodes([17, 20, 23, 19, 31, 25])  # rooms for 32 turns and for lengths up to 32
    with counted() as seen:
        episodes([18, 22, 27, 30, 24])
    assert seen.parts == 0


def test_what_is_in_use_is_the_same_after_many_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trie, "_SIGNATURES", Bounded(100))  # an episode has more of them
    episodes([17, 20, 23, 19, 31, 25])
    with counted() as seen:
        episodes([18, 22, 27, 30, 24])
    assert seen.parts == 0


def test_a_signature_that_is_held_is_found_again_once_many_others_were_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trie, "_SIGNATURES", Bounded(1))
    sines, tangents = TABLE["sin"], TABLE["tanh"]
    known = (aval((3,), np.dtype(np.float32)),)
    held = trie.signature_of(sines, known, ())
    trie.signature_of(tangents, known, ())
    assert len(trie._SIGNATURES) == 1 and trie.signature_of(sines, known, ()) is held


def test_the_same_place_of_several_tensors_is_no_loop_over_the_rows_of_one() -> None:
    torch.manual_seed(0)
    x = torch.randn(3, 5, 4)
    powers, sines, tangents = x.exp(), x.sin(), x.tanh()
    last, others, factors = powers[:, -1], sines[:, -1], tangents[:, -1]
    assert (last - others * factors).sum().item() == pytest.approx(7.6937217)


def path_probability(steps: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
    """Return the log of the sum over all ways through a lattice. Shape: steps, words (batch, rows, columns)."""
    batch, count, columns = steps.shape
    rows: list[list[torch.Tensor]] = []
    for t in range(count):
        row: list[torch.Tensor] = []
        for u in range(columns):
            ways = [rows[t - 1][u] + steps[:, t - 1, u]] if t else []
            if u:
                ways.append(row[u - 1] + words[:, t, u - 1])
            row.append(torch.logsumexp(torch.stack(ways), 0) if ways else torch.zeros(batch))
        rows.append(row)
    return rows[-1][-1].mean()


def test_lattices_of_many_sizes_whose_rows_read_at_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    x, weight = torch.randn(2, 12, 12), torch.randn(12, 12).requires_grad_()

    def derived(rows: int, columns: int) -> np.ndarray[Any, Any]:
        weight.grad = None
        scores = x @ weight
        path_probability(scores[:, :rows, :columns].sin(), scores[:, :rows, :columns].cos()).backward()
        assert weight.grad is not None
        return weight.grad.numpy().copy()

    sizes = [(5, 4), (6, 5), (5, 4), (7, 5), (6, 5), (5, 5)]
    found = [derived(*size) for size in sizes]
    monkeypatch.setattr(settings, "turns", 0)
    monkeypatch.setattr(forest, "_roots", {})
    for seen, size in zip(found, sizes, strict=True):
        np.testing.assert_allclose(seen, derived(*size), rtol=2e-4, atol=1e-5)


class Sentences:
    """A recurrent model of words, written out as loops in the ways that scripts have."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.words, self.cell, self.scores = nn.Embedding(20, 6), nn.GRUCell(6, 8), nn.Linear(8, 20)
        self.long, self.decoder = nn.LSTMCell(6, 8), nn.GRUCell(6, 8)
        self.filters = nn.Conv1d(6, 6, 3, padding=2, groups=6)
        self.reader, self.tags = nn.LSTM(6, 8, 2, batch_first=True, bidirectional=True), nn.Linear(16, 5)
        self.moves = nn.Parameter(torch.zeros(5, 5))
        layers = (self.words, self.cell, self.scores, self.long, self.decoder, self.filters, self.reader, self.tags)
        self.params = [param for layer in layers for param in layer.parameters()] + [self.moves]
        self.optimizer = torch.optim.Adam(self.params, lr=0.01)

    def last(self, x: torch.Tensor) -> torch.Tensor:
        """Return the loss of the word after the last."""
        h = torch.zeros(2, 8)
        for t in range(x.shape[1] - 1):
            h = self.cell(self.words(x[:, t]), h)
        return nn.functional.cross_entropy(self.scores(h), x[:, -1])

    def each(self, x: torch.Tensor) -> torch.Tensor:
        """Return the mean loss of the next words, added up in the loop."""
        h, loss, embedded = torch.zeros(2, 8), torch.zeros(()), self.words(x)
        for t in range(x.shape[1] - 1):
            h = self.cell(embedded[:, t], h)
            loss = loss + nn.functional.cross_entropy(self.scores(h), x[:, t + 1])
        return loss / x.shape[1]

    def together(self, x: torch.Tensor) -> torch.Tensor:
        """Return the loss of the next words, stacked first."""
        h, seen, embedded = torch.zeros(2, 8), [], self.words(x)
        for t in range(x.shape[1] - 1):
            h = self.cell(embedded[:, t], h)
            seen.append(h)
        found = self.scores(torch.stack(seen, 1))
        return nn.functional.cross_entropy(found.flatten(0, 1), x[:, 1:].flatten())

    def remembered(self, x: torch.Tensor) -> torch.Tensor:
        """Return the loss of an LSTM cell that reads the words backwards."""
        h, c = torch.zeros(2, 8), torch.zeros(2, 8)
        seen = []
        for t in reversed(range(x.shape[1])):
            h, c = self.long(self.words(x[:, t]), (h, c))
            seen.append(self.scores(h))
        return nn.functional.cross_entropy(torch.stack(seen).flatten(0, 1), x.flip(1).t().flatten())

    def scanned(self, x: torch.Tensor) -> torch.Tensor:
        """Return the loss of a state that is fed what a convolution makes of the words, and gated by it."""
        fed = self.filters(self.words(x).transpose(1, 2))[..., : x.shape[1]].transpose(1, 2)
        decay, state, seen = (-fed.exp()).exp(), torch.zeros(2, 6), []
        for t in range(x.shape[1]):
            state = decay[:, t] * state + fed[:, t]
            seen.append(torch.einsum("bd,bd->bd", state, fed[:, t]))
        found = self.scores(nn.functional.pad(torch.stack(seen, 1) * fed, (0, 2)))
        return nn.functional.cross_entropy(found.flatten(0, 1), x.flatten())

    def tagged(self, x: torch.Tensor) -> torch.Tensor:
        """Return the loss of a chain of tags: a random field over what a recurrent layer makes of the words."""
        normal = nn.functional.layer_norm(self.reader(self.words(x))[0], (16,))
        scores, tags, rows = self.tags(normal), x % 5, torch.arange(2)
        total, chosen = scores[:, 0], scores[rows, 0, tags[:, 0]]
        for t in range(1, x.shape[1]):
            total = (total[:, :, None] + self.moves + scores[:, t, None]).logsumexp(1)
            chosen = chosen + self.moves[tags[:, t - 1], tags[:, t]] + scores[rows, t, tags[:, t]]
        return (total.logsumexp(1) - chosen).mean() + 0.01 * sum(p.square().mean() for p in self.reader.parameters())

    def translated(self, x: torch.Tensor) -> torch.Tensor:
        """Return the loss of a decoder that looks at all that the encoder left, by attention."""
        h, seen, loss = torch.zeros(2, 8), [], torch.zeros(())
        for t in range(x.shape[1]):
            h = self.cell(self.words(x[:, t]), h)
            seen.append(h)
        memory = torch.stack(seen, 1)
        for t in range(x.shape[1] - 1):
            weights = (memory @ h[:, :, None]).squeeze(2).softmax(1)
            h = self.decoder(self.words(x[:, t]), h + (weights[:, :, None] * memory).sum(1))
            loss = loss + nn.functional.cross_entropy(self.scores(h), x[:, t + 1])
        return loss

    def train(self, kind: str, lengths: list[int]) -> list[list[np.ndarray[Any, Any]]]:
        """Take a step for each length; return the loss and the weights after each."""
        found = []
        for length in lengths:
            x = torch.from_numpy(np.random.default_rng(length).integers(0, 20, (2, length)))
            self.optimizer.zero_grad()
            loss = getattr(self, kind)(x)
            loss.backward()
            self.optimizer.step()
            found.append([loss.detach().numpy().copy(), *[p.detach().numpy().copy() for p in self.params]])
        return found


@pytest.mark.parametrize(
    ("kind", "least"), [("last", 6), ("each", 6), ("together", 6), ("remembered", 6), ("scanned", 18), ("tagged", 18)]
)
def test_sentences_of_many_lengths(kind: str, least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = [least + more for more in (2, 6, 1, 5, 0, 4, 3, 1)]
    model = Sentences()
    found = model.train(kind, lengths[:6])
    with counted() as seen:
        found += model.train(kind, lengths[6:])
    assert seen.parts == seen.compiles == 0
    require_same(found, kind, lengths, monkeypatch)


def test_a_decoder_whose_turns_look_at_all_of_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = [6, 4, 5]
    require_same(Sentences().train("translated", lengths), "translated", lengths, monkeypatch)


def require_same(
    found: list[list[np.ndarray[Any, Any]]], kind: str, lengths: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Assert that numpy, which runs a program for each length, without loops, gives the same."""
    monkeypatch.setattr(settings, "host", True)
    monkeypatch.setattr(settings, "turns", 0)
    monkeypatch.setattr(settings, "lengths", 0)
    monkeypatch.setattr(forest, "_roots", {})
    for one, other in zip(found, Sentences().train(kind, lengths), strict=True):
        for x, y in zip(one, other, strict=True):
            np.testing.assert_allclose(x, y, rtol=2e-4, atol=2e-5)


EPISODES = """
import itertools, jax
import funcgrad as torch
from funcgrad._program.counters import counters
from tests.benchmarks.lengths import episodes

compiled = []
def note(event, seconds, **about):
    if "backend_compile" in event:
        compiled.append(about["fun_name"])

jax.monitoring.register_event_duration_secs_listener(note)
torch.manual_seed(0)
for count, _ in enumerate(itertools.islice(episodes(torch), 30), 1):
    if count == 10:
        settled = counters.compiles, counters.parts, len(compiled)
        assert min(settled) > 0, settled
assert (counters.compiles, counters.parts) == settled[:2]
assert not compiled[settled[2]:], compiled
"""


def test_after_ten_episodes_nothing_is_compiled() -> None:
    """Episodes of 10 to 200 steps, an action drawn and read in each, an update after each: see the benchmark.

    In a process of its own, for what other tests have compiled would be counted again where JAX let go of it.
    """
    ran = subprocess.run([sys.executable, "-c", EPISODES], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def painted(count: int) -> list[np.ndarray[Any, Any]]:
    """Return so many images of random sizes, with one to three random boxes painted into each."""
    torch.manual_seed(0)
    images = []
    for _ in range(count):
        height, width = [8 * int(v) for v in torch.randint(5, 8, (2,))]
        image, boxes = torch.randn(3, height, width) * 0.1, int(torch.randint(1, 4, ()))
        labels = torch.randint(0, 3, (boxes,))
        x, y, w, h = torch.cat([torch.rand(boxes, 2) * 0.5 + 0.25, torch.rand(boxes, 2) * 0.3 + 0.1], 1).unbind(-1)
        corners = torch.stack([x - 0.5 * w, y - 0.5 * h, x + 0.5 * w, y + 0.5 * h], -1)
        places = (corners * torch.tensor([width, height, width, height])).long().tolist()
        for label, (left, top, right, bottom) in zip(labels, places, strict=True):
            image[label, max(top, 0) : bottom, max(left, 0) : right] += 1
        images.append(image)
    return [image.numpy() for image in images]


def test_parts_that_are_others_each_time_are_not_compiled_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies between two loops over the boxes of an image is never the same: it is run an instruction at a time."""
    monkeypatch.setattr(settings, "host", True)
    with counted() as seen:
        found = painted(24)
    assert seen.compiles <= 8
    monkeypatch.setattr(settings, "turns", 0)
    monkeypatch.setattr(forest, "_roots", {})
    for image, whole in zip(found, painted(24), strict=True):
        np.testing.assert_allclose(image, whole, rtol=1e-6, atol=1e-6)


def recalled(lengths: list[int]) -> list[int]:
    """Train a recurrent actor-critic, whose state begins with zeros; return how much was compiled in each episode."""
    torch.manual_seed(0)
    cell, actor, critic = nn.LSTMCell(3, 8), nn.Linear(8, 2), nn.Linear(8, 1)
    params = [param for layer in (cell, actor, critic) for param in layer.parameters()]
    optimizer, counts = torch.optim.Adam(params, lr=0.01), list[int]()
    for length in lengths:
        with counted() as seen:
            state, saved = (torch.zeros(1, 8), torch.zeros(1, 8)), list[tuple[torch.Tensor, torch.Tensor]]()
            for t in range(length):
                state = cell(torch.tensor([[0.1 * t, 1.0, -0.5]]), state)
                chances = torch.log_softmax(actor(state[0]), -1)
                saved.append((chances[0, int(chances[0, 0].item() < -0.7)], critic(state[0])))
            gain, loss = torch.zeros(1, 1), torch.zeros(1, 1)
            for t in reversed(range(length)):
                gain = 0.9 * gain + 1.0
                better = gain - saved[t][1]
                loss = loss + 0.5 * better.square() - saved[t][0] * better.detach()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            assert math.isfinite(loss.item())
        counts.append(seen.compiles + seen.parts)
    return counts


def test_a_state_that_begins_with_zeros_is_no_program_of_each_episode() -> None:
    assert recalled([20, 9, 14, 11, 23, 17])[3:] == [0, 0, 0]


@pytest.mark.parametrize("host", [False, True])
def test_a_column_that_is_the_same_in_each_turn_is_no_slice_of_each(
    monkeypatch: pytest.MonkeyPatch, *, host: bool
) -> None:
    """Its number is an input of the loop, but not one for each turn: slices were missing from the third turn on."""
    monkeypatch.setattr(settings, "host", host)
    for name in ("driven_20", "driven_40", "driven_30"):
        assert losses_of(torch, name) == pytest.approx(recorded(name), rel=1e-4, abs=1e-5)
