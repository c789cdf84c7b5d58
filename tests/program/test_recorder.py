"""The recorder: promises, weakly held results, errors where they are made, threads, JAX's own transformations."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import funcgrad as torch
from funcgrad._base.config import settings
from funcgrad._base.errors import FlushError
from funcgrad._program import record, run
from funcgrad._program.counters import counted
from funcgrad._program.plan import Plan
from funcgrad._program.record import fresh_program
from funcgrad._program.trie import forest


def test_nothing_is_computed_until_a_number_is_asked_for() -> None:
    with counted() as cost:
        y = torch.ones(3) * 2 + 1
    assert cost.runs == 0
    with counted() as cost:
        assert y.tolist() == [3, 3, 3]
    assert cost.runs == 1


def test_a_result_that_nobody_holds_is_not_produced() -> None:
    x = torch.randn(4)
    y = x * 2
    z = y + 1
    del y
    torch.explain.flush()
    program = z._variable.value
    assert program.array is not None
    with counted() as cost:
        z.sum().item()
    assert cost.runs == 1


def test_a_shape_error_is_raised_at_the_line_that_makes_it() -> None:
    a, b = torch.zeros(2, 3), torch.zeros(4, 5)
    with pytest.raises(RuntimeError, match=r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 4x5\)"):
        a @ b
    with pytest.raises(RuntimeError, match=r"size of tensor a \(3\) must match the size of tensor b \(5\)"):
        a + b
    assert (a + 1).sum().item() == 6


def test_a_refused_call_leaves_nothing_in_the_program() -> None:
    x, scalar, weight = torch.tensor([1.0, 2.0]), torch.tensor(1.0), torch.tensor([[1.0, 2.0]])

    def shifted(*refused: torch.Tensor) -> list[float]:
        y = x + 1
        for weights in refused:
            with pytest.raises(RuntimeError, match="at least 1D"):
                torch.nn.functional.linear(scalar, weights)
        return y.tolist()

    assert shifted(weight) == shifted() == [2, 3]


def test_a_part_of_a_tensor_that_meets_the_whole_of_it_knows_how_long_that_is() -> None:
    for length in (2, 6, 3, 5):
        x = torch.randint(0, 9, (length,))
        differences = x - x[length - 1]
        first = record.thread.program.cursor.path()[0]
        assert (first.op.name, first.signature.arguments[0].shape) == ("select", (length,))
        assert differences[-1].item() == 0


def test_an_error_while_compiling_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.randn(3)
    y = x * 3

    def broken(*_: object, **options: object) -> None:
        raise ValueError("no compiler today")

    monkeypatch.setattr(run, "plan", broken)
    with pytest.raises(ValueError, match="no compiler today"):
        y.tolist()
    monkeypatch.undo()
    assert np.allclose(y.tolist(), [3 * v for v in x.tolist()])


def test_ctrl_c_while_running_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    parameter = torch.ones(3).requires_grad_()
    optimizer = torch.optim.SGD([parameter], lr=0.5)
    (parameter * 2).sum().backward()

    def interrupted(*_: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "plan", interrupted)
    with pytest.raises(KeyboardInterrupt):
        optimizer.step()
    monkeypatch.undo()
    assert parameter.tolist() == [0, 0, 0]
    assert parameter.grad is not None and parameter.grad.tolist() == [2, 2, 2]


def test_a_run_that_fails_after_donating_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "host", False)
    x = torch.ones(1, 37, 1)  # a shape of its own: this program must not have been compiled before
    x += 1
    x.tolist()
    x *= 3  # the first array is free to be donated

    def plan(*_: object, **options: object) -> Plan:
        def execute(given: list[jax.Array], kept: object, numbers: object) -> list[jax.Array]:
            for array in given:
                array.delete()
            raise RuntimeError("out of memory")

        return Plan(execute, given=[0], kept=[], order=[0])

    monkeypatch.setattr(run, "plan", plan)
    with pytest.raises(RuntimeError, match="out of memory"):
        x.tolist()
    with pytest.raises(FlushError, match="was lost") as caught:
        x.tolist()
    assert "out of memory" in str(caught.value.__cause__)


def test_each_thread_records_its_own_program_and_reads_the_others() -> None:
    here = torch.arange(4) * 2
    seen: dict[str, object] = {}

    def work() -> None:
        there = torch.arange(4) + 1
        seen["sum"] = (here + there).tolist()
        seen["promise"] = there * 10

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen["sum"] == [1, 4, 7, 10]
    assert (seen["promise"] + here).tolist() == [10, 22, 34, 46]  # type: ignore[operator]


def test_many_threads_share_parameters() -> None:
    weight, failures = torch.arange(25.0).reshape(5, 5), []
    once = (weight @ weight).sum().item()

    def work(k: int) -> None:
        try:
            for _ in range(20):
                assert ((weight * k) @ weight).sum().item() == k * once  # small integers: exact
        except Exception as error:  # any failure of a thread fails the test
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not failures


def test_threads_that_meet_a_program_at_once_have_numbers_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """One plan for a program, whose number is an input: each thread gives its own."""
    monkeypatch.setattr(settings, "programs", 3)  # so that plans of all threads are let go of all the time
    weight, failures = torch.arange(25.0).reshape(5, 5), []

    def work(k: int) -> None:
        try:
            for i in range(10):
                found = (weight * k).sum().item() if i % 2 else ((weight * k).mean(0) + k).sum().item()
                assert found == (300 * k if i % 2 else 60 * k + 5 * k)
        except Exception as error:  # any failure of a thread fails the test
            failures.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for _ in range(40):
            monkeypatch.setattr(forest, "_roots", {})
            fresh_program()
            threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
            [t.start() for t in threads]
            [t.join() for t in threads]
    finally:
        sys.setswitchinterval(interval)
    assert not failures


def test_a_forked_child_gets_a_clear_error_where_numpy_does_not_do_it_at_once() -> None:
    script = (
        "import os, funcgrad as torch\n"
        "torch.ones(2).sum().item()\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    assert (torch.ones(2) + 1).sum().item() == 4\n"
        "    try:\n"
        "        (torch.ones(2, requires_grad=True) + 1).sum().item()\n"
        "    except RuntimeError as error:\n"
        "        os._exit(7 if 'forked child' in str(error) and 'spawn' in str(error) else 1)\n"
        "    os._exit(2)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7\n"
    )
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], env={**os.environ, "FUNCGRAD_CACHE": "off"}, timeout=120
    )
    assert ran.returncode == 0


def test_jax_transformations_run_straight_through() -> None:
    weight = torch.tensor([1.0, 2.0, 3.0])

    def loss(array: jax.Array) -> jax.Array:
        x = torch.from_jax(array)
        return ((x * weight).tanh() ** 2).sum().jax()

    def reference(array: jax.Array) -> jax.Array:
        return (jnp.tanh(array * jnp.array([1.0, 2.0, 3.0])) ** 2).sum()

    at = jnp.array([0.1, -0.2, 0.3])
    assert np.allclose(jax.jit(loss)(at), reference(at))
    assert np.allclose(jax.grad(loss)(at), jax.grad(reference)(at))
    assert np.allclose(jax.vmap(loss)(jnp.stack([at, 2 * at])), jax.vmap(reference)(jnp.stack([at, 2 * at])))


def test_functions_called_with_jax_arrays_are_pure_jax() -> None:
    x = jnp.array([[1.0, -2.0]])
    result = torch.nn.functional.relu(x)
    assert isinstance(result, jax.Array)
    assert jax.jit(torch.tanh)(x).tolist() == jnp.tanh(x).tolist()


def test_eager_gives_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    def compute() -> list[float]:
        torch.manual_seed(1)
        x = torch.randn(4, 4, requires_grad=True)
        y = (x @ x.T).softmax(1)[1:, :2].sum() * 0.3
        y.backward()
        assert x.grad is not None
        return x.grad.flatten().tolist()

    fused = compute()
    monkeypatch.setattr(settings, "eager", True)
    with counted() as cost:
        eager = compute()
    assert cost.runs == 0
    assert np.allclose(fused, eager, atol=1e-6)


def test_a_long_program_is_run_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "length", 200)
    monkeypatch.setattr(forest, "_roots", {})  # a Call knows from its beginning whether it is the last
    x = torch.zeros(2)
    with counted() as cost:
        for _ in range(410):
            x = x + 1
        assert x.tolist() == [410] * 2
    assert cost.runs == 3


def test_programs_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "programs", 5)
    for size in range(1, 15):
        (torch.arange(size).float() * 1.5).sum().item()
    before = forest.size()
    for size in range(15, 30):
        (torch.arange(size).float() * 1.5).sum().item()
    assert forest.size() <= before + 5


def test_memory_goes_with_the_last_reference_without_the_garbage_collector() -> None:
    gc.disable()
    try:
        x = torch.randn(10, requires_grad=True)
        y = (x * x).exp()
        loss = y.sum()
        value = weakref.ref(y._variable.value)
        node = weakref.ref(y.grad_fn)
        loss.backward()
        del y
        assert value() is None
        del loss
        assert node() is None
    finally:
        gc.enable()


def test_the_longest_way_round_int64_and_float64_are_real() -> None:
    assert not jax.config.jax_enable_x64
    x = torch.tensor(2**60) + 1
    assert x.item() == 2**60 + 1
    assert (torch.tensor(1.0, dtype=torch.float64) / 3).item() == 1 / 3
    assert jnp.arange(3).dtype == jnp.int32


def test_record_is_the_only_gate() -> None:
    x = torch.ones(2)
    before = len(record.thread.program.results)
    _ = x + x
    assert len(record.thread.program.results) > before


def test_shapes_are_inferred_once_for_all_floats() -> None:
    x, y = torch.ones(7), torch.zeros(7)
    with counted() as seen:
        for i in range(20):
            y = y * (0.1 * i + 0.3) + x / (0.5 + i) - 0.25 * i
    assert seen.inferences <= 6  # ones, zeros, and an operation each; not one for each number
    expected = np.zeros(7)
    for i in range(20):
        expected = expected * (0.1 * i + 0.3) + 1 / (0.5 + i) - 0.25 * i
    np.testing.assert_allclose(y.tolist(), expected, rtol=1e-5)


def test_a_float_alpha_of_whole_numbers_is_refused_whichever_was_seen_before() -> None:
    x = torch.ones(2, dtype=torch.int64)
    for alpha in (1.0, 2.5, 3.5):
        with pytest.raises(RuntimeError, match="For integral input tensors, argument alpha must not be a floating"):
            torch.add(x, x, alpha=alpha)
    assert torch.sub(x, x, alpha=3).tolist() == [-2, -2]


def test_what_writing_to_a_row_gives_is_known_for_all_rows() -> None:
    """States that a loop writes row by row: each was traced, which took most of the time of a turn."""
    states, state = torch.zeros(30, 3), torch.ones(3, requires_grad=True)
    with counted() as seen:
        for t in range(30):
            states[t] = state
            states[t : t + 1] = state.neg()
    assert seen.inferences <= 12
    assert states.tolist() == [[-1.0] * 3] * 30


def test_what_lies_end_to_end_is_not_traced_for_each_length() -> None:
    """Samples of many lengths that a batch puts together: each batch has lengths of its own."""
    lengths = [(3, 5, 2, 9), (4, 1, 6, 2), (8, 8, 7, 0), (2, 3, 2, 2), (1, 9, 4, 4)]
    parts = [[torch.full((2, n), float(n)) for n in each] for each in lengths]
    with counted() as seen:
        wholes = [torch.cat(each, dim=1) for each in parts]
        rows = [torch.cat([part.t() for part in each]) for each in parts]
    assert seen.inferences <= 20  # transposes, one for each length; a trace for each whole would be ten more
    assert [tuple(x.shape) for x in wholes] == [(2, sum(each)) for each in lengths]
    assert all(torch.equal(whole.t(), row) for whole, row in zip(wholes, rows, strict=True))
    assert torch.cat([torch.ones(2), torch.ones(0), torch.ones(1)]).shape == (3,)
    with pytest.raises(RuntimeError, match="Sizes of tensors must match except in dimension 0"):
        torch.cat([torch.ones(2, 3), torch.ones(2, 4)])
