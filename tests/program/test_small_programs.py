"""Small programs are run by numpy: nothing is compiled, the numbers are the same, and larger ones go to XLA."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import jax
import numpy as np
import pytest

import funcgrad as torch
from funcgrad import nn, optim
from funcgrad._base.config import settings
from funcgrad._program.counters import counted
from funcgrad._program.host import running
from funcgrad._program.host.running import PROGRAM
from funcgrad.random.box_muller import Compiled


class _Listener:
    """Counts what XLA compiles."""

    count = 0

    def __call__(self, event: str, duration_secs: float, **kwargs: str | int) -> None:
        self.count += event.endswith("backend_compile_duration")


@contextmanager
def xla_compiles() -> Iterator[_Listener]:
    """Count what XLA compiles inside, where no kernel for normal numbers is: it depends on all draws of the process."""
    listener, seconds = _Listener(), Compiled.seconds
    jax.monitoring.register_event_duration_secs_listener(listener)
    Compiled.seconds = math.inf
    try:
        yield listener
    finally:
        Compiled.seconds = seconds
        jax.monitoring.unregister_event_duration_listener(listener)


def trained() -> list[float]:
    """Return the losses and weights of a line that is fitted to points."""
    torch.manual_seed(0)
    x = torch.linspace(-1, 1, 20)
    y = 3 * x - 0.5 + 0.1 * torch.randn(20)
    weight, bias = torch.zeros(1, requires_grad=True), torch.zeros((), requires_grad=True)
    optimizer, losses = optim.SGD([weight, bias], lr=0.1, momentum=0.9), []
    for _ in range(20):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(x * weight + bias, y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return [*losses, weight.item(), bias.item()]


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "host", True)


@pytest.mark.usefixtures("host")
def test_numpy_trains_a_line_to_the_same_numbers_without_a_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    with xla_compiles() as seen, counted() as cost:
        found = trained()
    assert seen.count == 0
    assert cost.compiles <= 3, "the data, the first step, and the later ones"
    monkeypatch.setattr(settings, "eager", True)
    with xla_compiles() as seen:
        np.testing.assert_allclose(found, trained(), rtol=1e-5)
    assert seen.count > 0


@pytest.mark.usefixtures("host")
def test_matrices_of_other_sizes_are_factored_without_a_compile() -> None:
    linalg = torch.linalg
    for size in (2, 3, 5):
        torch.manual_seed(0)
        x, sides = torch.randn(size, size), torch.randn(size, 2)
        with xla_compiles() as seen:
            definite = x @ x.T + torch.eye(size)
            factor, (values, vectors) = linalg.cholesky(definite), linalg.eigh(definite)
            (q, r), (u, s, v) = linalg.qr(x), linalg.svd(x)
            one = torch.eye(size)
            rebuilt = factor @ factor.T, vectors * values @ vectors.T, q @ r, u * s @ v
            numbers = [(found.numpy(), x.numpy()) for found, x in zip(rebuilt, (definite, definite, x, x), strict=True)]
            for solved in (linalg.inv(definite), linalg.solve(definite, one), torch.cholesky_inverse(factor)):
                numbers.append(((definite @ solved).numpy(), one.numpy()))
            numbers.append(((definite @ torch.cholesky_solve(sides, factor)).numpy(), sides.numpy()))
            numbers.append((linalg.det(definite).numpy(), torch.logdet(definite).exp().numpy()))
        assert seen.count == 0
        for found, expected in numbers:
            np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.usefixtures("host")
def test_sounds_of_other_lengths_are_transformed_without_a_compile() -> None:
    window = torch.hann_window(16)
    for length in (60, 71, 95):
        x = torch.rand(length)
        with xla_compiles() as seen:
            spectrum = torch.stft(x, 16, 8, window=window, return_complex=True)
            sizes, angles = spectrum.abs().square().mean().item(), torch.angle(spectrum).amax().item()
            back = torch.istft(spectrum, 16, 8, window=window, length=length).numpy()
            numbers = torch.fft.rfft(x).numpy()
        assert seen.count == 0
        assert sizes > 0
        assert abs(angles) <= np.float32(math.pi)
        np.testing.assert_allclose(back, x.numpy(), atol=1e-6)
        np.testing.assert_allclose(numbers, np.fft.rfft(x.numpy()), atol=1e-5)


SMALL: dict[str, Callable[[torch.Tensor], object]] = {
    "sums": lambda x: (x.sum(0), x.mean(1), x.var(), x.std(0)),
    "products": lambda x: (x @ x.T, torch.einsum("ij,kj->ik", x, x), torch.outer(x[0], x[1])),
    "softmax": lambda x: (x.softmax(1), x.log_softmax(0), x.logsumexp(1)),
    "chosen": lambda x: (x[1], x[:, 2:], x[[2, 0]], x[x > 0], torch.where(x > 0, x, -x), x.argmax(1)),
    "ordered": lambda x: (x.cumsum(1), x.cummax(0), x.amax(1), x.flip(0)),
    "joined": lambda x: (torch.cat([x, x], 1), torch.stack([x, x]), nn.functional.pad(x, (1, 2))),
    "integers": lambda x: ((x * 9).long() // 4, (x * 9).long() % 4, (x * 9).int() ** 2),
    "scattered": lambda x: (
        torch.zeros(5, 4).index_add(0, torch.tensor([1, 1, 4]), x), nn.functional.one_hot(x.argmax(1)),
    ),
}  # fmt: skip


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize("name", SMALL)
def test_numpy_gives_what_xla_gives(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    with xla_compiles() as seen:
        by_numpy = [t.numpy() for t in torch.utils._pytree.tree_leaves(SMALL[name](torch.tensor(numbers)))]
    assert seen.count == 0
    monkeypatch.setattr(settings, "host", False)
    by_xla = [t.numpy() for t in torch.utils._pytree.tree_leaves(SMALL[name](torch.tensor(numbers)))]
    for one, other in zip(by_numpy, by_xla, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=2e-6, atol=1e-6)


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize(
    "compute",
    [
        lambda: torch.ones(300, 300).exp().sum(),  # many elements
        lambda: torch.ones(200, 200) @ torch.ones(200, 200),  # a large product
        lambda: sum(
            torch.tensor(float(i), requires_grad=True).sin() for i in range(PROGRAM.equations + 1)
        ),  # equations
        lambda: torch.tensor([1j, 2.0]).exp(),
        lambda: torch.ones(3).bfloat16().exp(),
        lambda: torch.tensor([0.3]).erfinv(),  # numpy has none
    ],
)
def test_what_is_too_much_for_numpy_goes_to_xla(compute: Callable[[], torch.Tensor]) -> None:
    with xla_compiles() as seen:
        compute().tolist()
    assert seen.count > 0


@pytest.mark.usefixtures("host")
def test_results_are_arrays_of_their_own() -> None:
    x = torch.arange(6.0)
    rows, same, turned = x.reshape(2, 3) + 0, x.clone(), x.reshape(2, 3).t().contiguous()
    for tensor in (rows, same, turned):
        tensor.numpy()[...] = -1
    assert x.tolist() == [0, 1, 2, 3, 4, 5]
    x.numpy()[0] = 9
    assert rows.max() == same.max() == turned.max() == -1


@pytest.mark.usefixtures("host")
def test_numpy_does_not_warn_of_infinities() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        zero = torch.zeros(2)
        assert (1 / zero).tolist() == [np.inf, np.inf]
        assert zero.log().tolist() == [-np.inf, -np.inf]
        assert (torch.tensor([2**62]) * 4).tolist() == [0]
        assert torch.tensor([np.nan, 3e38]).mul(10).isfinite().tolist() == [False, False]


@pytest.mark.usefixtures("host", "each_look_is_a_program")
def test_lengths_of_a_small_program_share_an_executable_once_there_were_many() -> None:
    def spread(n: int) -> float:
        x = torch.arange(float(n))
        return ((x - x.mean()) / (x.std() + 1e-5)).abs().sum().item()

    with counted() as cost, xla_compiles() as seen:
        found = {n: spread(n) for n in range(5, 60)}
    assert cost.compiles <= 4 and seen.count == 0
    assert found[50] == pytest.approx(spread(50))
    with xla_compiles() as seen:
        found = {n: spread(n) for n in range(60, 120)}
    assert 0 < seen.count <= 12
    assert found[110] == pytest.approx(
        float(np.abs((np.arange(110) - 54.5) / (np.arange(110).std(ddof=1))).sum()), rel=1e-3
    )


@pytest.mark.usefixtures("host")
def test_a_run_that_is_interrupted_is_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(results: list[object], lent: list[object]) -> object:
        raise KeyboardInterrupt

    weight = torch.ones(3, requires_grad=True)
    optimizer = optim.SGD([weight], lr=0.5)
    (weight * 2).sum().backward()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(running, "own", interrupted)
        optimizer.step()
        weight.tolist()
    assert weight.tolist() == [0, 0, 0]


@pytest.mark.usefixtures("host")
def test_numpy_runs_what_lies_between_the_turns_of_an_episode() -> None:
    """Episodes of other lengths each: 4 executables, where XLA alone compiles 14."""
    policy = nn.Linear(4, 3)
    optimizer = optim.SGD(policy.parameters(), lr=0.1)

    def episode(steps: int) -> float:
        kept = []
        for i in range(steps):
            scores = policy(torch.tensor([0.1 * i, 1.0, -0.5, 0.2])).log_softmax(-1)
            kept.append(scores[scores.argmax().item()])
        optimizer.zero_grad()
        loss = -torch.stack(kept).mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    with xla_compiles() as seen:
        losses = [episode(steps) for steps in (20, 31, 25, 40, 22)]
    assert all(np.isfinite(losses))
    assert seen.count <= 6


@pytest.mark.usefixtures("host")
def test_what_is_gone_over_is_given_away_without_a_program_of_so_many_results() -> None:
    x = torch.linspace(0.0, 1.0, 60, requires_grad=True)
    with xla_compiles() as seen:
        pairs = [(float(a), float(b)) for a, b in zip(x.sin() * 2, (x * 3).view(10, 6).flatten(), strict=True)]
    assert seen.count == 0
    np.testing.assert_allclose(pairs, np.stack([2 * np.sin(x.tolist()), 3 * np.array(x.tolist())], 1), rtol=1e-6)
    torch.stack(list(x * x)).sum().backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.tolist(), 2 * np.array(x.tolist()), rtol=1e-6)
