"""A program whose dimension varies gives, in a bucket of lengths, what it gives compiled for each length."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import explain, nn
from funcgrad._base.config import settings
from funcgrad._program import plan, planned
from funcgrad._program.counters import counted
from funcgrad._program.journal import Journal
from funcgrad._program.lengths.running import AtLength
from funcgrad._program.plan import forget_executables
from funcgrad._program.record import fresh_program, thread
from funcgrad._program.trie import forest
from funcgrad._tape import vjp
from funcgrad.nn import functional as F
from tests.program.trainings import TRAININGS, losses_of, recorded, tagger

LENGTHS = (12, 30, 7, 21, 9, 17)  # the first two are compiled as they are; room for 32 follows
ASK_MORE = (  # of n than 2 <= n <= 16 tells: 8, 16 and 32
    "slices", "joins", "orders", "spectra", "convolved", "continued", "strided", "crossed", "copied",
)  # fmt: skip
Program: TypeAlias = Callable[[fg.Tensor], Any]
PROGRAMS: dict[str, Program] = {}


def program(function: Program) -> Program:
    """Enter a function of x (4, n, 6) that returns tensors."""
    PROGRAMS[function.__name__] = function
    return function


@pytest.fixture(autouse=True)
def _two_lengths(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(settings, "lengths", 2)
    monkeypatch.setattr(forest, "_roots", {})  # which numbers change is not known from another test
    fresh_program()
    yield


@program
def sums_and_means(x: fg.Tensor) -> Any:
    return x.sum(), x.mean(1), x.sum((0, 1)), x.var(1), x.std(), x.norm(), x.logsumexp(1)


@program
def extremes(x: fg.Tensor) -> Any:
    return x.max(), x.amin(1), x.max(1).values, x.max(1).indices, x.argmin(1), x.median(1).values


@program
def elements_of_the_length(x: fg.Tensor) -> Any:
    return (x * 2 + 1).exp().log1p(), x.relu(), x / x.shape[1], (x > 0).float().mean()


@program
def softmax_over_the_length(x: fg.Tensor) -> Any:
    return x.softmax(1), x.log_softmax(1)[:, -1], F.normalize(x, dim=1)


@program
def attention(x: fg.Tensor) -> Any:
    mask = fg.triu(fg.ones(x.shape[1], x.shape[1]), diagonal=1).bool()
    scores = (x @ x.transpose(1, 2) / 6**0.5).masked_fill(mask, float("-inf"))
    return scores.softmax(-1) @ x, F.scaled_dot_product_attention(x, x, x, is_causal=True)


@program
def slices(x: fg.Tensor) -> Any:
    return x[:, 1:], x[:, :-1], x[:, -1], x[:, 1:] - x[:, :-1], x[:, 2:-3].mean()


@program
def joins(x: fg.Tensor) -> Any:
    return fg.cat([x, x * 2], 1), fg.cat([x, x[:, :3]], 1).sum(1), fg.stack([x, x]).mean(2), F.pad(x, (0, 0, 2, 1))


@program
def orders(x: fg.Tensor) -> Any:
    return x.flip(1), x.cumsum(1), x.sort(1).values, x.argsort(1), x.topk(3, 1).values, x.roll(2, 1)


@program
def flattened(x: fg.Tensor) -> Any:
    rows = x.reshape(-1, 6)
    return rows.mean(0), (rows * rows).view(4, -1, 6), x.flatten(1).sum(1), x.transpose(0, 1).reshape(-1, 24).amax(0)


@program
def classified(x: fg.Tensor) -> Any:
    target = fg.arange(4 * x.shape[1]).remainder(6).view(4, -1)
    return (
        F.cross_entropy(x.reshape(-1, 6), target.view(-1)),
        F.cross_entropy(x.transpose(1, 2), target, ignore_index=2),
        F.nll_loss(x.log_softmax(-1).flatten(0, 1), target.flatten(), reduction="sum"),
    )


@program
def losses(x: fg.Tensor) -> Any:
    return F.mse_loss(x, x.flip(1)), F.smooth_l1_loss(x, x * 2), F.binary_cross_entropy_with_logits(x, (x > 0).float())


@program
def bags(x: fg.Tensor) -> Any:
    table, words = x[:, 0], fg.arange(x.shape[1]).remainder(4)
    starts = fg.tensor([0, 1, 1, 3])
    return [F.embedding_bag(words, table, starts, mode=mode) for mode in ("sum", "mean")]


@program
def indexed(x: fg.Tensor) -> Any:
    places = fg.arange(x.shape[1]).flip(0)
    rows = x.new_zeros(5, 6).index_add(0, fg.arange(x.shape[1]).remainder(5), x[0])
    gathered = x.gather(1, (places[None, :, None] // 2).expand(4, -1, 6))
    return x[:, places], x.index_select(1, fg.tensor([0, 3])), gathered, rows


@program
def chosen_in_each_row(x: fg.Tensor) -> Any:
    classes = x.detach().argmax(2, keepdim=True)
    of_batch = x[0].log_softmax(-1).gather(1, classes[0]).squeeze(1)
    put = x[1].scatter(1, classes[1], 0.5), x[2].scatter_add(1, classes[2].expand(-1, 2), x[3, :, :2])
    return x.gather(2, classes), of_batch, *put, fg.take_along_dim(x, classes, 2).mean()


@program
def continued(x: fg.Tensor) -> Any:
    channels = x.transpose(1, 2)
    return tuple(F.pad(channels, (2, 1), mode=mode) for mode in ("reflect", "replicate", "circular"))


@program
def resized(x: fg.Tensor) -> Any:
    channels = x.transpose(1, 2)
    wider = [F.interpolate(channels, scale_factor=2, mode=mode) for mode in ("nearest", "linear")]
    to_five = F.interpolate(channels, size=5, mode="linear", align_corners=True)
    return *wider, to_five, F.adaptive_max_pool1d(channels, 1)


@program
def strided(x: fg.Tensor) -> Any:
    weight = fg.arange(6 * 5 * 4).view(5, 6, 4).float() / 50
    channels = x.transpose(1, 2)
    return F.conv1d(channels, weight, stride=2, padding=1), F.conv1d(channels, weight[:, :, :3], stride=3)


@program
def copied(x: fg.Tensor) -> Any:
    windows = x.unfold(1, 3, 2), x[0].unfold(0, 3, 3)
    return x.repeat(2, 1, 1), x[0].repeat(3, 2), fg.stack([x, x * 2], 1).mean(1), fg.stack(x.unbind(2), 1), *windows


@program
def crossed(x: fg.Tensor) -> Any:
    products = x[0] @ x[1].T
    near = fg.cdist(x[0], x[1, :4]) + fg.linspace(0, 1, x.shape[1])[:, None]
    return products.diagonal(), products.diagonal(1).mean(), fg.diag(products), near


@program
def aligned(x: fg.Tensor) -> Any:
    scores = x.log_softmax(-1).transpose(0, 1)
    return F.ctc_loss(scores, fg.tensor([[1, 2], [3, 3], [5, 1], [2, 4]]), (x.shape[1],) * 4, (2, 2, 1, 2)), x * 2


@program
def convolved(x: fg.Tensor) -> Any:
    weight = fg.arange(6 * 5 * 3).view(5, 6, 3).float() / 50
    channels = x.transpose(1, 2)
    return (
        F.conv1d(channels, weight, padding=1),
        F.conv1d(channels, weight, dilation=2).sum(),
        F.max_pool1d(channels, 2),
        F.avg_pool1d(channels, 3, stride=1, padding=1),
    )


@program
def normalised(x: fg.Tensor) -> Any:
    over_all = F.batch_norm(x.transpose(1, 2), None, None, training=True)
    return F.layer_norm(x, (6,)), over_all, F.layer_norm(x, x.shape[1:])


@program
def distances(x: fg.Tensor) -> Any:
    apart = fg.cdist(x[0], x[1], compute_mode="donot_use_mm_for_euclid_dist")
    return apart.min(1).values, fg.einsum("bnh,bmh->bnm", x, x).mean(), x[0] @ x[1].T


@program
def written(x: fg.Tensor) -> Any:
    y = x.clone()
    y[:, 0] = 0
    y[:, -1] += 1
    y[:, 1:] *= 2
    return y, x.masked_fill(x > 1, 0), x.where(x > 0, -x)


def factored(x: fg.Tensor) -> Any:
    """Return what is solved with kernel matrices, as Gaussian processes do; errors of LAPACK split the program."""
    apart = fg.cdist(x, x, compute_mode="donot_use_mm_for_euclid_dist")  # products round the zeros
    kernel = fg.exp(-apart) + 2 * fg.eye(x.shape[1])
    lower = fg.linalg.cholesky(kernel)
    white = fg.linalg.solve_triangular(lower, x, upper=False)
    other = fg.linalg.solve_triangular(lower.mT, x.mT, upper=True, left=False)
    volume = lower.diagonal(dim1=-2, dim2=-1).log().sum(-1) + fg.logdet(kernel + white @ white.mT)
    return white, other, volume, fg.linalg.solve(kernel + x @ x.mT, x), fg.linalg.inv(kernel)


@program
def spectra(x: fg.Tensor) -> Any:
    found = fg.stft(x[..., 0], 4, 2, window=fg.hann_window(4), return_complex=True)
    return found.real, found.abs().mean(-1)


@program
def rotated(x: fg.Tensor) -> Any:
    places = fg.arange(x.shape[1], dtype=fg.float32) + fg.arange(0.0, 2 * x.shape[1], 2)
    angles = fg.einsum("i,j->ij", places, fg.tensor([1.0, 0.1])).repeat_interleave(3, 1)
    return x * angles.cos(), x * fg.einsum("..., f -> ... f", fg.arange(x.shape[1]), fg.tensor([0.5])).sin()


@program
def put_at_places(x: fg.Tensor) -> Any:
    order, rows = x[0, :, 0].detach().argsort(), fg.zeros(40, 6)
    rows[order] = x[1]
    rows[:, 2:4][order // 2] = 0.5
    added = fg.zeros(4, 40).index_put((fg.arange(4)[:, None], order // 3), x[..., 0], accumulate=True)
    return rows, added, fg.zeros(40, 2, 6).index_put((order, fg.tensor(1)), x[2])


@program
def windows_read_by_strides(x: fg.Tensor) -> Any:
    samples = x.transpose(0, 1).contiguous()
    windows = samples.as_strided((x.shape[1], 4, 2, 5), (24, 6, 1, 1))
    return windows, fg.einsum("nckp,nc->nkp", windows, samples[..., 0])


def _run(function: Program, lengths: tuple[int, ...]) -> list[list[np.ndarray[Any, Any]]]:
    outcomes = []
    for length in lengths:
        generator = np.random.default_rng(length)
        x = fg.from_numpy(generator.standard_normal((4, length, 6), np.float32)).requires_grad_()
        results = function(x)
        floats = [r for r in results if r.requires_grad]
        fg.stack([(r * r).mean() for r in floats]).sum().backward()
        outcomes.append([r.detach().numpy() for r in results] + [x.grad.numpy()])
    return outcomes


def _without_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on each length is compiled as it is, also what was planned before."""
    monkeypatch.setattr(settings, "lengths", 0)
    monkeypatch.setattr(settings, "host", False)
    monkeypatch.setattr(forest, "_roots", {})
    forget_executables()
    fresh_program()  # which begins there


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_bucket_gives_what_each_length_gives(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with counted() as seen:
        bucketed = _run(PROGRAMS[name], LENGTHS)
    _without_forms(monkeypatch)
    with counted() as exactly:
        exact = _run(PROGRAMS[name], LENGTHS)
    assert exactly.compiles == len(LENGTHS)
    for mine, other in zip(bucketed, exact, strict=True):
        for a, b in zip(mine, other, strict=True):
            assert a.shape == b.shape
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6 * max(1.0, np.abs(b).max()))
    assert seen.compiles == 2 + (3 if name in ASK_MORE else 1)


def test_matrices_of_many_sizes_share_their_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    found, others = _run(factored, LENGTHS), (13, 26, 11)
    with counted() as seen:
        found += _run(factored, others)
    assert seen.compiles == 0
    _without_forms(monkeypatch)
    for mine, other in zip(found[-4:], _run(factored, (LENGTHS[-1], *others)), strict=True):
        for a, b in zip(mine, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5 * max(1.0, np.abs(b).max()))


@pytest.mark.parametrize("name", ["lstm", "attention"])
def test_text_of_many_lengths_trains_as_under_torch(name: str) -> None:
    with counted() as seen:
        losses = losses_of(fg, name)
    assert seen.compiles == 4  # two as they are, rooms for 16 and for 32
    np.testing.assert_allclose(losses, recorded(name), rtol=1e-4)


def _continued(tagger: Callable[[fg.Tensor], fg.Tensor], turns: int, *, reading: bool) -> tuple[list[int], int]:
    """Continue a text with the likeliest word; return it, and how many programs were run."""
    words = fg.tensor([[1, 2, 3]])
    with fg.no_grad(), counted() as seen:
        for _ in range(turns):
            words = fg.cat([words, tagger(words)[:, -1:].argmax(-1)], dim=1)
            if reading:
                words[0, -1].item()
    return words[0].tolist(), seen.runs


def test_a_text_that_nobody_reads_while_it_grows_is_a_program_a_turn() -> None:
    fg.manual_seed(3)
    model = tagger(fg, "attention", 8).eval()
    text, runs = _continued(model, 12, reading=False)
    assert runs == 12
    assert _continued(model, 12, reading=False)[0] == text
    assert _continued(model, 12, reading=True)[0] == text


def test_a_text_that_outgrows_its_window_is_compiled_three_times() -> None:
    fg.manual_seed(3)
    model = tagger(fg, "attention", 12).eval()

    def windowed(words: fg.Tensor) -> fg.Tensor:
        return model(words[:, -20:])

    with counted() as seen:
        text, runs = _continued(windowed, 30, reading=False)
    assert (seen.compiles, runs) == (3, 30)  # 3 words as they are, with room to grow, and the window
    with counted() as seen:
        assert _continued(windowed, 30, reading=True) == (text, 30)
    assert seen.compiles == 0


def test_what_lies_in_another_order_of_memory_is_the_same_program() -> None:
    straight, turned = fg.ones(2, 400, 60) * 2, fg.ones(2, 60, 400).transpose(1, 2) * 2
    explain.flush()
    sums = []
    for x in (straight, turned):
        y = (x.sin() @ x.cos().mT).tanh().sum(0) + x.sum()
        executables = len(plan._EXECUTABLES)
        sums.append(y.sum().item())
    assert straight.stride() != turned.stride()
    assert sums[0] == sums[1]
    assert len(plan._EXECUTABLES) == executables


def test_blocks_that_widen_are_one_program() -> None:
    x = fg.ones(2, 3)
    with fg.no_grad(), counted() as seen:
        for _ in range(10):
            x = fg.cat([x, x.sum(1, keepdim=True).sin()], dim=1)
        assert x[0, -1].item() == pytest.approx(float(np.sin(x[0, :-1].sum().item())), abs=1e-6)
    assert seen.runs == 2


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("translated", 5), ("boxes", 5), ("recordings", 5),  # two lengths that vary independently
        ("graphs", 5), ("experts", 14), ("layers_of_experts", 14), ("sets", 4),  # sums of them, or many
    ],
)  # fmt: skip
def test_several_lengths_share_an_executable_and_train_as_under_torch(name: str, most: int) -> None:
    with counted() as seen:
        losses = losses_of(fg, name)
    assert 0 < seen.compiles <= most
    np.testing.assert_allclose(losses, recorded(name), rtol=1e-4)


@pytest.mark.parity
@pytest.mark.parametrize("name", TRAININGS)
def test_the_losses_are_those_of_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    np.testing.assert_allclose(recorded(name), losses_of(torch, name), rtol=1e-5)


def test_experts_that_get_equally_many_rows_are_no_turns_of_a_loop() -> None:
    """Whether some expert has any row is looked at, so each is a program that has run when the backward pass begins."""
    gate, experts = nn.Linear(4, 4), [nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4)) for _ in range(4)]

    def passes(shares: list[int]) -> list[str]:
        wanted = fg.from_numpy(np.repeat(np.arange(4), shares))
        x = fg.randn(len(wanted), 4)
        share, chosen = F.softmax(gate(x) + 50 * F.one_hot(wanted, 4), -1).max(-1)
        out = fg.zeros_like(x)
        for i, expert in enumerate(experts):
            mask = chosen == i
            if mask.any():
                out[mask] = expert(x[mask])
        (out * share[:, None]).sum().backward()
        return [call.op.name for call in thread.program.cursor.path()]

    first, *_, equal = [passes(shares) for shares in ([16, 19, 22, 23], [17, 18, 20, 25], [20] * 4, [20] * 4)]
    assert first.count("linear_pullback") == equal.count("linear_pullback") == 9
    assert [name for name in equal if "_and_" in name] == []


def test_data_of_many_lengths_is_joined_without_a_compile() -> None:
    generator = np.random.default_rng(0)
    parts = [fg.from_numpy(generator.random((2, size), np.float32)) for size in range(8, 18)]

    def joined() -> tuple[fg.Tensor, fg.Tensor]:
        chosen = [parts[i] for i in generator.integers(0, 10, 6)]
        found = fg.cat([part + 7 * i for i, part in enumerate(chosen)], 1)
        return found, fg.stack([part[:, :8] for part in chosen], 1)

    for _ in range(24):
        for found in joined():
            found.numpy()
    with counted() as seen:
        found, stacked = (found.numpy() for found in joined())
    assert seen.compiles == 0
    assert found.shape[0] == 2 and 35 < found.max() < 36
    assert stacked.shape == (2, 6, 8) and stacked.max() < 1


def test_what_a_loop_kept_is_joined_without_a_compile_though_the_last_is_not_there_yet() -> None:
    def joined(count: int) -> float:
        x, kept = fg.arange(20.0), []
        for i in range(count):
            kept.append(x.sin()[i])
            if i < count - 1:
                assert abs(kept[-1].item()) <= 1
        return fg.stack(kept).sum().item()

    joined(9), joined(12), joined(11)
    with counted() as seen:
        found = joined(13)
    assert seen.compiles == 0
    assert found == pytest.approx(sum(math.sin(i) for i in range(13)), abs=1e-5)


def test_a_batch_that_is_short_once_an_epoch_while_lengths_vary() -> None:
    model = nn.Linear(6, 3)
    optimizer = fg.optim.SGD(model.parameters(), lr=0.1)
    with counted() as seen:
        for epoch in range(4):
            for i in range(6):
                x = fg.randn(8 if i < 5 else 3 + epoch, 5 + (7 * i + 5 * epoch) % 11, 6)
                optimizer.zero_grad()
                F.cross_entropy(model(x).reshape(-1, 3), fg.zeros(x.shape[0] * x.shape[1], dtype=fg.long)).backward()
                optimizer.step()
    assert seen.compiles <= 7


def test_a_pull_back_of_some_results_is_not_derived_for_each_length(monkeypatch: pytest.MonkeyPatch) -> None:
    derived: list[str] = []
    derive = vjp.Pullback._derived

    def noted(self: vjp.Pullback, *given: Any) -> Any:
        derived.append(self.name)
        return derive(self, *given)

    monkeypatch.setattr(vjp.Pullback, "_derived", noted)
    norm = nn.BatchNorm1d(5)  # whose running averages get no gradient
    for length in (31, 34, 37, 41, 43, 46, 52, 58):
        if length == 43:
            derived.clear()
        norm(fg.randn(length, 5)).square().mean().backward()
        norm.weight.grad.tolist()
    assert derived == []


def test_many_lengths_of_an_mlp_are_a_few_compiles() -> None:
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
    optimizer = fg.optim.Adam(model.parameters())
    lengths = np.random.default_rng(0).permutation(np.arange(5, 125))[:60]
    with counted() as seen:
        for length in lengths.tolist():
            optimizer.zero_grad()
            loss = F.cross_entropy(model(fg.randn(length, 6)), fg.randint(0, 3, (length,)))
            loss.backward()
            optimizer.step()
            loss.item()
    assert seen.compiles <= 2 + 5
    assert seen.inferences <= 150  # 12 shapes for a length that has to be traced


def test_nothing_but_its_form_is_asked_of_a_program_that_is_known_at_other_lengths(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = nn.Sequential(*[nn.Sequential(nn.Linear(6, 6), nn.Tanh()) for _ in range(8)])

    def step(length: int) -> float:
        model.zero_grad()
        loss = model(fg.from_numpy(np.ones((length, 6), np.float32))).square().mean()
        loss.backward()
        return float(model[0][0].weight.grad.sum()) + loss.item()

    for length in (12, 30, 7, 21):
        step(length)
    wanted = step(21)
    monkeypatch.setattr(plan, "line_of", lambda *_: pytest.fail("the line was looked at"))
    with counted() as seen:
        np.testing.assert_allclose([step(9), step(17)], wanted, rtol=1e-5)
    assert (seen.compiles, seen.runs) == (0, 2)


def test_a_number_that_goes_with_the_length_is_an_input() -> None:
    sums = [(fg.ones(n, 2) * 3).sum().div(n).add(n).item() for n in (5, 9, 7, 6, 8)]
    assert sums == [11.0, 15.0, 13.0, 12.0, 14.0]


def test_what_cannot_be_masked_is_compiled_for_each_length() -> None:
    def smallest_eigenvalue(n: int) -> float:
        x = fg.eye(n) * 2 + fg.ones(n, n)
        return fg.linalg.eigvalsh(x)[0].item()

    with counted() as seen:
        np.testing.assert_allclose([smallest_eigenvalue(n) for n in (3, 4, 5, 6)], 2, rtol=1e-5)
    assert seen.compiles == 4
    assert "each length is compiled" in Journal.compiles[-1].reason


@pytest.mark.parametrize("kind", ["lstm", "ctc"])
def test_a_backward_pass_whose_forward_pass_ran_before_has_room_for_many_lengths(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lstm = nn.LSTM(2, 6)

    def gradients(n: int) -> list[np.ndarray[Any, Any]]:
        lstm.zero_grad()
        found = lstm(fg.randn(n, 1, 2, generator=fg.Generator().manual_seed(n)))[0]
        if kind == "ctc":
            found = F.ctc_loss(found.log_softmax(-1), fg.tensor([[1, 2, 2]]), (n,), (3,), reduction="sum")
        loss = found.sum()
        loss.item()
        loss.backward()
        return [p.grad.numpy().copy() for p in lstm.parameters() if p.grad is not None]

    lengths = (6, 9, 7, 8, 12)
    Journal.compiles.clear()
    found = [gradients(n) for n in lengths]
    reasons = [compiled.reason for compiled in Journal.compiles]
    assert "compiled for lengths up to 16" in reasons[-1]
    assert not any("each length is compiled" in reason for reason in reasons)
    _without_forms(monkeypatch)
    for mine, n in zip(found, lengths, strict=True):
        for a, b in zip(mine, gradients(n), strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)


def test_a_recurrent_layer_gets_no_room_for_a_text_to_grow() -> None:
    gru = nn.GRU(2, 3)
    with fg.no_grad():
        for n in (4, 5, 7):
            gru(fg.randn(n, 1, 2))[0].sum().item()
    reasons = [compiled.reason for compiled in explain.compiles()]
    assert "compiled for lengths up to 16" in reasons[-1]


def test_explain_says_which_dimension_varied_and_what_was_done() -> None:
    for n in (5, 9, 7, 6):
        (fg.randn(3, n).cumsum(1) * 2).sum().item()
    reasons = [compiled.reason for compiled in explain.compiles()]
    assert any("9 -> 7" in reason and "compiled for lengths up to 16" in reason for reason in reasons)


def test_shapes_of_other_sizes_are_not_taken_for_those_of_another_length() -> None:
    for n in (5, 6, 7, 8):
        assert (fg.ones(n, 3) + fg.ones(n, 3)).shape == (n, 3)
    for n in (9, 10, 11, 12):
        assert (fg.ones(n, 4) + fg.ones(n, 4)).shape == (n, 4)
    with pytest.raises(RuntimeError, match="must match"):
        fg.ones(13, 3) + fg.ones(13, 4)


def test_a_window_over_the_end_of_a_text_that_grows() -> None:
    def last_twenty(length: int) -> float:
        x = fg.from_numpy(np.arange(2.0 * length, dtype=np.float32).reshape(2, length))
        return (x[:, -20:] * 1.5).cumsum(1)[:, -1].sum().item()

    with counted() as seen:
        found = [last_twenty(length) for length in range(21, 40)]
    assert found == [1.5 * np.arange(2 * n).reshape(2, n)[:, -20:].sum() for n in range(21, 40)]
    assert seen.compiles == 3  # it grows by one: as it is, then for lengths up to 32 and up to 64


def test_boxes_are_suppressed_image_by_image_without_a_compile_for_each_turn() -> None:
    with counted() as seen:
        for count in (33, 26, 23, 30, 28, 20):
            assert losses_of(fg, f"suppressed_{count}") == recorded(f"suppressed_{count}")
    assert seen.compiles <= seen.runs // 6


def test_an_axis_of_size_one_is_not_taken_for_a_short_length() -> None:
    def broadcast(n: int) -> list[float]:
        return (fg.ones(n, 3) + fg.ones(4, 1)[:n]).sum(0).tolist()

    assert [broadcast(n)[0] for n in (4, 3, 2, 1)] == [8.0, 6.0, 4.0, 2.0]


def test_it_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "lengths", 0)
    with counted() as seen:
        for n in (5, 9, 7, 6):
            (fg.ones(n) * 2).sum().item()
    assert seen.compiles == 4


def test_what_would_mostly_be_padding_is_compiled_as_it_is() -> None:
    for shape in ((16, 32, 32, 32), (4, 3, 64, 64), (8, 8, 64, 32)):  # room for all: 2^25 elements
        x = fg.ones(shape) + 0
        assert x.sum().item() == x.numel()
    assert "most of the room for other lengths would be empty" in Journal.compiles[-1].reason
    for shape in ((3, 4), (5, 6), (7, 7)):
        x = fg.ones(shape) + 0
        assert x.sum().item() == x.numel()
    assert "compiled for lengths up to" in Journal.compiles[-1].reason


def test_a_length_that_comes_back_often_is_compiled_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(planned._OFTEN, AtLength, 3)
    compiles = []
    for n in (5, 9, 7, 7, 7, 7, 7):
        with counted() as seen:
            assert (fg.ones(n) * 2).sum().item() == 2 * n
        compiles.append(seen.compiles)
    assert compiles == [1, 1, 1, 0, 0, 1, 0]


def test_a_length_that_comes_back_often_has_less_room_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(planned._OFTEN, AtLength, 3)
    compiles = []
    for n in (5, 90, 80, *[7] * 9, 70):
        with counted() as seen:
            assert (fg.ones(n) * 2).sum().item() == 2 * n
        compiles.append(seen.compiles)
    # two as they are, room for 128, then for 16, then 7 as it is; 70 has room already
    assert compiles == [1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0]
    assert [c.reason.partition("; ")[2] for c in list(Journal.compiles)[-3:]] == [
        "compiled for lengths up to 128",
        "compiled for lengths up to 16",
        "",
    ]


@pytest.mark.parametrize(
    "function",
    [
        lambda x, n: x.diagonal(n) * 2,
        lambda x, n: F.pad(x, (n, n), mode="reflect") * 2,
        lambda x, n: F.pad(x, (n, n), mode="circular") * 2,
        lambda x, n: F.conv1d(F.pad(x, (n, 0)), x[:, :, :2], dilation=n),
        lambda x, n: F.conv_transpose1d(x, x[:, :, :2], stride=n),
        lambda x, n: F.max_pool1d(F.pad(x, (0, n)), 3, 1, dilation=n),
        lambda x, n: F.max_pool1d(F.pad(x, (0, 9)), n, 1),
    ],
    ids=["diagonal", "reflected", "wrapped", "dilated", "strided", "spaced", "windows"],
)
def test_options_that_vary_beside_shapes_that_do_not(
    function: Callable[[fg.Tensor, int], fg.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    x = fg.linspace(-1, 1, 9 * 9 * 20).sin().reshape(9, 9, 20)
    _ = x.sum().item()

    def found() -> list[float]:
        return [function(x, n).double().square().sum().item() for n in range(2, 9)]

    shared = found()
    monkeypatch.setattr(settings, "lengths", 0)
    assert shared == pytest.approx(found(), rel=1e-5)


def test_a_leaf_that_no_result_replaces_at_other_lengths_is_not_donated(recwarn: pytest.WarningsRecorder) -> None:
    distances = fg.rand(40, 40, generator=fg.Generator().manual_seed(0))
    shares = fg.zeros(40, 40)
    for i in range(40):
        width, low, high = 1.0, -fg.inf, fg.inf
        row = fg.cat([distances[i, :i], distances[i, i + 1 :]]) ** 2
        for _ in range(25):
            share = fg.exp(-row * width)
            total = share.sum()
            too_wide = fg.log(total) + width * (row * share).sum() / total - 2.3
            if too_wide.abs() < 1e-4:
                break
            if too_wide > 0:
                low, width = width, width * 2 if high == fg.inf else (width + high) / 2
            else:
                high, width = width, width / 2 if low == -fg.inf else (width + low) / 2
        shares[i, fg.arange(40) != i] = share / total
    assert shares.sum().item() == pytest.approx(40)
    assert not [w for w in recwarn if "donated" in str(w.message)]


def test_what_a_script_keeps_of_its_batches_makes_no_other_program_of_a_step() -> None:
    """The features of every second batch are kept, so that an executable may not reuse their memory."""
    fg.manual_seed(0)
    net, kept, compiles = nn.Linear(6, 6), list[tuple[fg.Tensor, list[float]]](), list[int]()
    optimizer = fg.optim.SGD(net.parameters(), lr=0.1)
    for i, length in enumerate([12, 30, 7, 21, 9, 17, 26, 14]):
        features = fg.randn(length, 6)
        if i % 2:
            kept.append((features, features.flatten().tolist()))
        loss = (net(features).tanh() - features).square().mean()
        del features
        with counted() as seen:
            loss.backward()
            optimizer.step()
        compiles.append(seen.compiles)
    assert not any(compiles[4:])
    assert all(features.flatten().tolist() == numbers for features, numbers in kept)
