"""Numbers that torch refuses, computed by a program: its error, when something of that program is read."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import funcgrad as fg
from funcgrad import explain
from funcgrad._base.config import settings
from funcgrad._ops.conditions import ROOM, are_rows
from funcgrad._program import faults
from funcgrad._program.counters import counters
from funcgrad._program.run import flush
from funcgrad.nn import functional as F

WEIGHT = fg.arange(15.0).reshape(5, 3)


def places(*numbers: int) -> fg.Tensor:
    """Return int64 numbers that only a program knows."""
    return fg.tensor(numbers) * 2 // fg.tensor(2)


def floats(*numbers: float) -> fg.Tensor:
    """Return float32 numbers that only a program knows."""
    return fg.tensor(numbers) * 1.0


def written(change: Callable[[fg.Tensor], Any]) -> fg.Tensor:
    """Return a copy of WEIGHT that was changed in place."""
    copied = WEIGHT.clone()
    change(copied)
    return copied


REFUSED: dict[str, tuple[Callable[[], fg.Tensor], type[Exception], str]] = {
    "embedding": (lambda: F.embedding(places(1, 5), WEIGHT), IndexError, "index out of range in self"),
    "embedding_bag, first offset": (
        lambda: F.embedding_bag(fg.tensor([1, 2]), WEIGHT, places(1, 2)), RuntimeError,
        "the first sequence in the mini-batch has to start from position 0. However, got 1",
    ),
    "embedding_bag, last offset": (
        lambda: F.embedding_bag(fg.tensor([1, 2]), WEIGHT, places(0, 3)), RuntimeError,
        "offsets[-1] can not be greater than input's length 2 but got offsets[-1] of 3",
    ),
    "embedding_bag": (
        lambda: F.embedding_bag(places(1, -1)[None], WEIGHT), RuntimeError,
        "Index 1 of input takes value -1 which is not in the valid range [0, 5)",
    ),
    "gather": (
        lambda: WEIGHT.gather(1, places(3)[None]), RuntimeError,
        "index 3 is out of bounds for dimension 1 with size 3",
    ),
    "scatter": (
        lambda: WEIGHT.scatter(-1, places(-1)[None], 1.0), RuntimeError,
        "index -1 is out of bounds for dimension 1 with size 3",
    ),
    "index_select": (lambda: WEIGHT.index_select(0, places(5)), IndexError, "index out of range in self"),
    "index_fill": (lambda: WEIGHT.index_fill(0, places(-6), 1.0), IndexError, "index -6 is out of bounds"),
    "take": (lambda: WEIGHT.take(places(15)), IndexError, "tried to access index 15 on a tensor of 15 elements"),
    "x[i]": (lambda: WEIGHT[places(0, -6)], IndexError, "index -6 is out of bounds for dimension 0 with size 5"),
    "x[:, i]": (lambda: WEIGHT[:, places(3)], IndexError, "index 3 is out of bounds for dimension 0 with size 3"),
    "x[i] = 0": (
        lambda: written(lambda x: x.__setitem__(places(5), 0.0)), IndexError,
        "index 5 is out of bounds for dimension 0 with size 5",
    ),
    "cross_entropy": (
        lambda: F.cross_entropy(WEIGHT, places(0, 1, -100, 3, 0)), IndexError, "Target 3 is out of bounds."
    ),
    "nll_loss": (lambda: F.nll_loss(WEIGHT[0], places(-1)[0]), IndexError, "Target -1 is out of bounds."),
    "multi_margin_loss": (lambda: F.multi_margin_loss(WEIGHT[0], places(3)), RuntimeError, "target out of range"),
    "one_hot": (lambda: F.one_hot(places(3), 3), RuntimeError, "Class values must be smaller than num_classes."),
    "binary_cross_entropy": (
        lambda: F.binary_cross_entropy(floats(0.5, float("nan")), fg.ones(2)), RuntimeError,
        "all elements of input should be between 0 and 1",
    ),
    "bernoulli": (lambda: fg.bernoulli(floats(1.5)), RuntimeError, "Expected p_in >= 0 && p_in <= 1"),
    "multinomial": (lambda: fg.multinomial(floats(1.0, -1.0), 1), RuntimeError, "`inf`, `nan` or element < 0"),
    "multinomial of nothing": (lambda: fg.multinomial(floats(0.0), 1), RuntimeError, "sum of probabilities <= 0"),
    "normal": (lambda: fg.normal(floats(0.0), floats(-1.0)), RuntimeError, "all elements of std >= 0.0"),
    "integer division": (lambda: places(4) // places(0), RuntimeError, "ZeroDivisionError"),
    "ctc_loss": (
        lambda: F.ctc_loss(fg.zeros(4, 1, 3), fg.tensor([[1, 2]]), places(5), fg.tensor([2])), RuntimeError,
        "Expected input_lengths to have value at most 4, but got value 5",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_program_computes_is_refused_when_it_is_read(name: str) -> None:
    compute, kind, text = REFUSED[name]
    result = compute()
    with pytest.raises(kind) as refused:
        result.numpy()
    assert text in str(refused.value)
    assert __file__ in refused.value.__notes__[0]


def test_the_first_of_several_faults_is_raised_once_with_its_line() -> None:
    good, bad = places(1), places(2, 7)
    result = WEIGHT[good] + WEIGHT[bad] + WEIGHT[bad + 1]
    with pytest.raises(IndexError, match="index 7 is out of bounds") as refused:
        result.sum().item()
    (note,) = refused.value.__notes__
    line = int(note.rpartition(":")[2])
    with open(__file__, encoding="utf-8") as source:
        assert "WEIGHT[good] + WEIGHT[bad]" in source.read().splitlines()[line - 1]
    assert result.shape == (2, 3)
    result.numpy()


def test_what_was_recorded_after_a_fault_is_never_told_of() -> None:
    first = WEIGHT[places(7)]
    flush()
    later = WEIGHT[places(8)]
    flush()
    with pytest.raises(IndexError, match="index 7"):
        first.numpy()
    later.numpy()


def test_what_the_host_refuses_comes_after_what_is_wrong_before_it() -> None:
    WEIGHT[places(7)]
    with pytest.raises(IndexError, match="index 7"):
        WEIGHT[fg.tensor([8])]
    (fg.ones(2) * 3).numpy()
    with pytest.raises(IndexError, match="index 8"):
        WEIGHT[fg.tensor([8])]


def test_nothing_is_read_ahead_of_its_program() -> None:
    known = fg.ones(2) + 1
    known.numpy()
    WEIGHT[places(9)]
    assert known.tolist() == [2.0, 2.0]  # another program, done by now
    with pytest.raises(IndexError, match="index 9"):
        (fg.ones(2) * 3).numpy()


def test_a_loop_with_checks_is_compiled_once_and_rolled() -> None:
    table = fg.nn.Embedding(7, 4)
    cell = fg.nn.GRUCell(4, 4)
    optimizer = fg.optim.SGD([*table.parameters(), *cell.parameters()], lr=0.1)

    def step(words: fg.Tensor) -> float:
        optimizer.zero_grad()
        state = fg.zeros(1, 4)
        for t in range(12):
            state = cell(table(words[t]), state)
        loss = state.square().sum()
        loss.backward()
        optimizer.step()
        return loss.item()

    step(places(*range(7), *range(5))[:, None])
    before = counters.compiles
    for _ in range(3):
        step(places(*range(7), *range(5))[:, None])
    assert counters.compiles - before <= 1
    with pytest.raises(IndexError, match="out of range in self"):
        step(places(*range(8), *range(4))[:, None])


def test_checks_of_lengths_that_vary_share_an_executable() -> None:
    table = fg.nn.Embedding(7, 4)

    def total(length: int, shift: int = 0) -> float:
        words = fg.arange(length, dtype=fg.int64).clone() % 7 + shift
        return table(words).square().mean().item()

    with fg.no_grad():
        for length in (5, 9, 14, 6):
            total(length)
        before = counters.compiles
        for length in (7, 8, 11, 13):
            total(length)
        assert counters.compiles == before
        with pytest.raises(IndexError):
            total(10, 1)


def test_host_numbers_are_checked_at_once_however_often_they_are_used() -> None:
    index = fg.tensor([0, 2])
    for _ in range(3):
        (WEIGHT[index] + fg.ones(2, 3)).sum().item()
    with pytest.raises(IndexError):
        fg.ones(2)[index]
    whole = fg.tensor([0, 1, 9])
    before = counters.misses
    WEIGHT[whole[:2]]
    assert counters.misses - before <= 3
    with pytest.raises(IndexError):
        WEIGHT[whole[1:]].numpy()


def test_a_check_is_one_instruction_and_none_where_the_host_has_the_numbers() -> None:
    scores, targets = fg.ones(5, 3), fg.tensor([0, 1, 2, 0, 1])
    loss = F.cross_entropy(scores, targets)
    assert "cross_entropy" in explain.pending() and "are_classes" not in explain.pending()
    loss = loss + F.cross_entropy(scores, targets // 1)
    assert explain.pending().count("are_classes") == 1
    assert loss.item() > 0


def test_run_op_by_op_the_error_comes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "eager", True)
    with pytest.raises(IndexError):
        WEIGHT[places(9)]


def test_under_transformations_there_is_nothing_to_check() -> None:
    def chosen(weight: Any) -> Any:
        return fg.nn.functional.embedding(
            places(1, 2), fg.tensor(weight) if not isinstance(weight, fg.Tensor) else weight
        )

    assert fg.func.grad(lambda w: chosen(w).sum())(WEIGHT).sum().item() == 6.0
    assert jax.jit(lambda w, i: F.embedding(i, w))(WEIGHT.jax(), fg.tensor([9]).jax()).shape == (1, 3)
    assert fg.vmap(lambda i: WEIGHT[i])(places(0, 9)).shape == (2, 3)


def test_what_is_known_of_one_check_holds_for_all_of_its_kind() -> None:
    """Chances of a chain that nobody looks at: each check has a number of its own, and was traced for it."""
    chances = floats(0.5, 0.25)
    before = counters.inferences
    for _ in range(20):
        chances = (chances + fg.bernoulli(chances)) * 0.5
    assert counters.inferences - before <= 8
    with pytest.raises(RuntimeError, match="Expected p_in >= 0"):
        fg.bernoulli(chances + 2).tolist()


def test_the_number_of_a_check_may_be_an_input_of_its_program() -> None:
    """Which is traced in 32 bits where the program is run an instruction at a time, or turns; the outcome has 64."""
    check = are_rows.instruction.function
    with jax.enable_x64(True):
        places = jax.numpy.asarray([0, 5])
        outcome, number = jax.jit(lambda which: check(None, None, which, places, WEIGHT.jax(), (0,)))(np.int32(3))
    assert (*divmod(int(outcome), ROOM), int(number)) == (3, 1, 5)


def test_what_a_refused_call_demanded_of_its_numbers_is_forgotten() -> None:
    """PyTorch looks at shapes first; the condition would have been raised where somebody else reads a number."""
    scores = fg.ones(8, 8, requires_grad=True) * 2
    places = fg.arange(12).roll(6)
    refused = [
        lambda: fg.nn.functional.cross_entropy(scores, places),
        lambda: scores.scatter_add(0, (places * 2).view(3, 4), fg.ones(2, 4)),
        lambda: scores.scatter_add_(0, (places * 2).view(3, 4), fg.ones(3, 4, dtype=fg.float64)),
        lambda: fg.index_select(scores, 0, places.view(3, 4)),
    ]
    for call in refused:
        with pytest.raises((RuntimeError, ValueError, IndexError)):
            call()
        assert scores.sum().item() == 128
    scores.gather(0, places.view(2, 6) * 2)
    with pytest.raises(RuntimeError, match="out of bounds"):
        scores.sum().item()


def test_of_many_checks_only_the_last_outcome_is_held() -> None:
    numbers, places, held = fg.ones(8, 8), fg.arange(8).roll(2), list[weakref.ref[Any]]()
    for turn in range(3):
        numbers.gather(0, places.roll(turn)[None])
        fg.index_select(numbers, 0, places.roll(turn))
        held.append(weakref.ref(faults._thread.waiting[-1].faults))
    assert [outcome() is None for outcome in held] == [True, True, False]
