"""What a step costs: one program, compiled once, whatever the numbers do; and nothing half done after Ctrl-C."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import funcgrad as torch
from funcgrad._base.config import settings
from funcgrad._program import trie
from funcgrad._program.counters import counted
from funcgrad.explain.programs import program
from funcgrad.optim import recorded
from funcgrad.optim.lane import Lane
from tests.optim.running import parameter


def train(optimizer: Any, w: torch.Tensor, times: int) -> None:
    for _ in range(times):
        optimizer.zero_grad()
        (w * w).sum().backward()
        optimizer.step()


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam", "ASGD", "Adafactor"])
def test_the_first_step_is_the_same_program_as_the_second(name: str) -> None:
    w = parameter(np.full((5, 3), 2.0, "float32"))
    options = {"momentum": 0.9} if name == "SGD" else {}
    optimizer = getattr(torch.optim, name)([w], lr=0.0625, **options)
    with counted() as seen:
        train(optimizer, w, 5)
    assert (seen.compiles, seen.runs) == (1, 5)


def test_what_set_the_parameters_up_is_not_part_of_the_first_step() -> None:
    w = (torch.ones(7) * 3).requires_grad_()
    with counted() as seen:
        optimizer = torch.optim.SGD([w], lr=0.125)
    assert seen.runs == 1
    with counted() as seen:
        train(optimizer, w, 3)
    assert (seen.compiles, seen.runs) == (1, 3)


def test_a_rate_that_changes_compiles_once_more_and_never_again() -> None:
    w = parameter(np.ones(11, "float32"))
    optimizer = torch.optim.AdamW([w], lr=0.03)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=40)
    with counted() as seen:
        for _ in range(30):
            train(optimizer, w, 1)
            scheduler.step()
    assert seen.runs == 30
    assert seen.compiles <= 2


def test_small_states_travel_as_one_array_and_reading_them_changes_no_program() -> None:
    params = [parameter(np.ones(3, "float32")), parameter(np.ones((2, 2), "float32"))]
    optimizer = torch.optim.Adam(params)

    def step() -> None:
        optimizer.zero_grad()
        sum((param * param).sum() for param in params).backward()
        optimizer.step()

    step()
    inside = [optimizer.state[param][name] for param in params for name in ("exp_avg", "exp_avg_sq")]
    assert len({id(state._base) for state in inside}) == 1
    np.testing.assert_allclose(inside[0].numpy(), np.full(3, 0.2), rtol=1e-6)
    np.testing.assert_allclose(inside[3].numpy(), np.full((2, 2), 0.004), rtol=1e-5)
    with counted() as seen:
        step()
    assert seen.compiles == 0
    optimizer.state[params[0]]["exp_avg"].zero_()
    assert inside[0].tolist() == [0, 0, 0]
    assert inside[2].tolist() != [[0, 0], [0, 0]]


def test_large_states_are_on_the_device_before_the_first_step_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    large, small = parameter(np.ones((600, 600), "float32")), parameter(np.ones((600, 60), "float32"))
    optimizer = torch.optim.Adam([large, small])
    held: dict[torch.Tensor, type] = {}

    def look(lane: Any) -> None:
        for param, state in optimizer.state.items():
            held[param] = type(state["exp_avg"]._variable.value.array)

    monkeypatch.setattr(Lane, "forget_readings", look)
    torch.add(large.sum(), small.sum()).backward()
    optimizer.step()
    assert issubclass(held[large], jax.Array)
    assert held[small] is np.ndarray


def test_parameters_in_lockstep_share_one_count() -> None:
    params = [parameter([float(i)]) for i in range(4)]
    optimizer = torch.optim.Adam(params)
    for param in params:
        param.grad = torch.ones(1)
    optimizer.step()
    counts = [optimizer.state[param]["step"] for param in params]
    assert len({id(count) for count in counts}) == 4
    assert len({id(count._variable.value) for count in counts}) == 1
    params[0].grad = None
    optimizer.step()
    assert [count.item() for count in counts] == [1.0, 2.0, 2.0, 2.0]


def test_counts_are_shared_again_after_loading() -> None:
    params = [parameter([float(i)]) for i in range(3)]
    optimizer = torch.optim.Adam(params)
    for param in params:
        param.grad = torch.ones(1)
    optimizer.step()
    again = torch.optim.Adam(params)
    again.load_state_dict(optimizer.state_dict())
    assert len({id(again.state[param]["step"]._variable.value) for param in params}) == 1


def test_a_step_waits_for_nothing() -> None:
    w = parameter([2.0])
    optimizer = torch.optim.Adam([w])
    with counted() as seen:
        train(optimizer, w, 1)
        loss = (w * w).sum()
    assert seen.runs == 1
    assert loss._variable.value.array is None


def test_ctrl_c_before_the_names_change_leaves_everything_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    w = parameter([2.0])
    optimizer = torch.optim.Adam([w], lr=0.5)
    train(optimizer, w, 1)
    before = w.tolist(), optimizer.state[w]["exp_avg"].tolist()

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(recorded, "bind", interrupt)
        train(optimizer, w, 1)
    assert (w.tolist(), optimizer.state[w]["exp_avg"].tolist()) == before
    assert optimizer.state[w]["step"].item() == 1.0


@pytest.mark.parametrize("name", ["SGD", "Adam", "NAdam", "RAdam", "Adamax", "Adadelta"])
def test_numbers_keep_their_precision_when_they_become_inputs(name: str) -> None:
    """A number of float32 precision would give 1 - beta2 that is wrong in the fifth digit."""

    def run(number: float) -> Any:
        w = parameter(np.array([0.3, -2.0, 5.0, 0.25], "float64"))
        key = {"SGD": "momentum", "Adadelta": "rho"}.get(name, "betas")
        options = {key: (0.9, number) if key == "betas" else number}
        train(getattr(torch.optim, name)([w], lr=0.01, **options), w, 4)
        return w.detach().numpy()

    as_constant = run(0.999)
    run(0.99)
    np.testing.assert_allclose(run(0.999), as_constant, rtol=1e-14)


def test_numbers_of_any_type_are_one_kind_of_input() -> None:
    w = parameter(np.ones(13, "float32"))
    optimizer = torch.optim.SGD([w], lr=0)
    rates = [0, 0.5, np.float64(0.25), 1, np.float32(0.125), 0.75]
    with counted() as seen:
        for rate in rates:
            optimizer.param_groups[0]["lr"] = rate
            train(optimizer, w, 1)
    assert seen.compiles == 1


def test_eager_mode_gives_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> Any:
        w = parameter([1.0, -2.0])
        train(torch.optim.Adam([w], lr=0.1, amsgrad=True), w, 3)
        return w.detach().numpy()

    fused = run()
    monkeypatch.setattr(settings, "eager", True)
    np.testing.assert_allclose(run(), fused, rtol=1e-6)


def test_many_small_parameters_are_updated_as_one_array() -> None:
    small = [parameter(np.full(3 + i % 2, i, "float32")) for i in range(40)]
    large = parameter(np.zeros((64, 64), "float32"))
    optimizer = torch.optim.Adam([*small, large], lr=0.1)
    sum((p * p).sum() for p in (*small, large)).backward()
    optimizer.step()
    assert str(program().jaxpr).count(" sqrt ") == 2, "one for all small parameters, one for the large one"
    for i, p in enumerate(small[1:], 1):
        np.testing.assert_allclose(p.detach().numpy(), np.full(3 + i % 2, i - 0.1), rtol=1e-6)


def test_sparse_adam_counts_the_steps_of_each_table_in_python_and_compiles_no_more_for_it() -> None:
    tables = [torch.nn.Embedding(4, 2, sparse=True) for _ in range(2)]
    optimizer = torch.optim.SparseAdam([table.weight for table in tables])

    def step() -> None:
        optimizer.zero_grad()
        torch.cat([table(torch.tensor([1])) for table in tables]).sum().backward()
        optimizer.step()

    optimizer.zero_grad()
    tables[0](torch.tensor([1])).sum().backward()
    optimizer.step()
    for _ in range(3):
        step()
    with counted() as seen:
        step()
    assert seen.compiles == 0
    counts = [optimizer.state[table.weight]["step"] for table in tables]
    assert counts == [5, 4]
    assert all(type(count) is int for count in counts)


ALL = [
    "SGD",
    "Adam",
    "AdamW",
    "RMSprop",
    "Adagrad",
    "Adadelta",
    "Adamax",
    "NAdam",
    "RAdam",
    "Rprop",
    "ASGD",
    "Adafactor",
]


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_what_a_step_gives_is_known_without_tracing_it(name: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known_at_once, compared, inside = trie._replacing, [], []

    def both(op: Any, arguments: tuple[Any, ...], statics: tuple[Any, ...]) -> Any:
        known = None if inside else known_at_once(op, arguments, statics)
        if known is not None:
            inside.append(op)
            assert trie.inferred(op, arguments, statics) == known
            inside.clear()
            compared.append(op.name)
        return known

    monkeypatch.setattr(trie, "_replacing", both)
    # a shape that no other test steps: what was known before is not asked for again
    params = [parameter(np.full(shape, 2.0, dtype)) for shape in ((11, 3), (13,), ())]
    optimizer = getattr(torch.optim, name)(params, lr=0.0625)
    for _ in range(2):
        optimizer.zero_grad()
        sum((w * w).sum() for w in params).backward()
        optimizer.step()
    assert compared
    assert all(w.dtype == getattr(torch, dtype) for w in params)
