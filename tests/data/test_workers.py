"""Workers: the same batches in the same order, made ahead by threads or by spawned processes."""

from __future__ import annotations

import gc
import itertools
import pickle
import random
import threading
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad as torch
from funcgrad.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, get_worker_info, pool
from funcgrad.utils.data import worker as workers
from tests.data.test_datasets import Squares


class Slow(Dataset):
    """The lower the index, the longer it takes."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> int:
        time.sleep(0.02 * (8 - index) / 8)
        return index


class Broken(Dataset):
    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> int:
        if index == 3:
            raise KeyError("sample 3 is broken")
        return index


class Shared(IterableDataset):
    """0 ... 9, of which every worker takes its part."""

    def __iter__(self):
        info = get_worker_info()
        return iter(range(10)) if info is None else iter(range(info.id, 10, info.num_workers))


class Configured(IterableDataset):
    def __init__(self) -> None:
        self.start, self.stop = 0, 10

    def __iter__(self):
        return iter(range(self.start, self.stop))


def take_a_part(worker: int) -> None:
    info = get_worker_info()
    assert info.id == worker
    info.dataset.start, info.dataset.stop = 5 * worker, 5 * worker + 5


class Seeds(Dataset):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> tuple[int, int, float]:
        info = get_worker_info()
        return info.id, info.seed, float(np.random.rand())


class Tensors(Dataset):
    def __init__(self) -> None:
        self.x = torch.arange(12.0).view(6, 2)

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> torch.Tensor:
        return self.x[index] * 2


class NoReturnError(Exception):
    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} and {second}")


class Odd(Squares):
    def __getitem__(self, index: int) -> int:
        raise NoReturnError(index, 1)


def values(loader: DataLoader) -> list:
    return [batch.tolist() for batch in loader]


@pytest.mark.parametrize("prefetch", [1, 2, 5])
def test_batches_come_in_order_however_long_each_takes(prefetch) -> None:
    loader = DataLoader(Slow(), batch_size=2, num_workers=3, prefetch_factor=prefetch)
    assert values(loader) == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_without_order_all_batches_still_come() -> None:
    loader = DataLoader(Slow(), batch_size=2, num_workers=2, in_order=False)
    assert sorted(values(loader)) == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_batches_are_made_ahead() -> None:
    seen = []

    class Watched(Squares):
        def __getitem__(self, index):
            seen.append(index)
            return index

    iterator = iter(DataLoader(Watched(10), num_workers=2, prefetch_factor=2))
    deadline = time.monotonic() + 5
    while len(seen) < 4 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert sorted(seen) == [0, 1, 2, 3]
    assert [next(iterator).item() for _ in range(10)] == list(range(10))


def test_a_workers_exception_reaches_the_loop_with_the_line_that_raised_it() -> None:
    loader = DataLoader(Broken(), batch_size=2, num_workers=2)
    received = []
    with pytest.raises(KeyError, match="sample 3 is broken") as caught:
        for batch in loader:
            received.append(batch.tolist())
    assert received == [[0, 1]]
    text = str(caught.value)
    assert text.startswith(
        "Caught KeyError in DataLoader worker process 1.\nOriginal Traceback (most recent call last):"
    )
    assert "in __getitem__" in text


def test_after_an_exception_the_other_batches_still_come() -> None:
    iterator = iter(DataLoader(Broken(), batch_size=2, num_workers=2))
    next(iterator)
    with pytest.raises(KeyError):
        next(iterator)
    assert next(iterator).tolist() == [4, 5]


def test_a_stream_is_shared_out_by_worker_info() -> None:
    loader = DataLoader(Shared(), batch_size=2, num_workers=3)
    assert values(loader) == [[0, 3], [1, 4], [2, 5], [6, 9], [7], [8]]


@pytest.mark.parametrize("context", [None, "fork", "spawn"])
def test_a_worker_may_change_its_own_copy_of_the_dataset(context) -> None:
    dataset = Configured()
    loader = DataLoader(
        dataset, batch_size=5, num_workers=2, worker_init_fn=take_a_part, multiprocessing_context=context
    )
    assert values(loader) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    assert (dataset.start, dataset.stop) == (0, 10)


def test_an_exception_in_worker_init_fn_reaches_the_loop() -> None:
    def fail(worker: int) -> None:
        raise OSError(f"no disk for {worker}")

    with pytest.raises(OSError, match="no disk for 0"):
        list(DataLoader(Squares(4), num_workers=2, worker_init_fn=fail))


def test_a_stream_that_ends_early_leaves_the_others_their_turn() -> None:
    class Uneven(IterableDataset):
        def __iter__(self):
            return iter(range(10 * get_worker_info().id, 10 * get_worker_info().id + 1 + 3 * get_worker_info().id))

    assert values(DataLoader(Uneven(), num_workers=2)) == [[0], [10], [11], [12], [13]]


def test_a_timeout_is_an_error() -> None:
    class Stuck(Squares):
        def __getitem__(self, index):
            time.sleep(0.5)
            return index

    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0\.05 seconds"):
        list(DataLoader(Stuck(2), num_workers=1, timeout=0.05))


def test_without_workers_nobody_is_waited_for() -> None:
    with pytest.raises(AssertionError, match="requires timeout == 0"):
        iter(DataLoader(range(3), timeout=1))


def test_workers_end_with_the_pass() -> None:
    before = set(threading.enumerate())
    list(DataLoader(Squares(4), num_workers=2))
    assert set(threading.enumerate()) <= before


def test_workers_end_when_a_loop_is_left() -> None:
    before = set(threading.enumerate())
    for _ in itertools.islice(DataLoader(Squares(40), num_workers=2), 3):
        pass
    gc.collect()
    assert set(threading.enumerate()) <= before


def test_persistent_workers_stay_for_the_next_pass() -> None:
    before = set(threading.enumerate())
    loader = DataLoader(Squares(5), batch_size=2, num_workers=2, persistent_workers=True)
    assert values(loader) == [[0, 1], [4, 9], [16]]
    workers = set(threading.enumerate()) - before
    next(iter(loader))
    assert values(loader) == [[0, 1], [4, 9], [16]]
    assert set(threading.enumerate()) - before == workers
    assert len(workers) == 2


def test_a_workers_seed_is_the_base_seed_and_its_number() -> None:
    torch.manual_seed(0)
    base = int(torch.empty((), dtype=torch.int64).random_().item())
    torch.manual_seed(0)
    ids, seeds, _ = zip(*DataLoader(Seeds(), num_workers=2, collate_fn=lambda batch: batch[0]), strict=True)
    assert list(ids) == [0, 1, 0, 1]
    assert list(seeds) == [base, base + 1, base, base + 1]


def test_a_thread_has_random_sources_of_its_own() -> None:
    class Draws(Squares):
        def __getitem__(self, index):
            rng = get_worker_info().rng
            return (
                rng.random_generator.random(),
                rng.numpy_generator.random(),
                torch.rand(2, generator=rng.torch_generator).tolist(),
            )

    def drawn():
        torch.manual_seed(0)
        return list(DataLoader(Draws(6), num_workers=2, batch_size=None))

    first = drawn()
    assert first == drawn()
    assert len({str(one) for sample in first for one in sample}) == 3 * 6  # no two sources or samples draw alike


class GlobalDraws(Squares):
    """What a dataset gets that draws from the global generators, as augmentations do."""

    def __getitem__(self, index):
        drawn = (
            random.random(),
            random.gauss(0, 1),
            random.choice("abcdef"),
            float(np.random.rand()),
            np.random.randint(9),
        )
        return get_worker_info().id, drawn


def expected_of(worker: int, base: int, count: int) -> list[Any]:
    python = random.Random(base + worker)
    numpy = np.random.RandomState(workers._generate_state(base, worker))
    return [
        (python.random(), python.gauss(0, 1), python.choice("abcdef"), numpy.rand(), numpy.randint(9))
        for _ in range(count)
    ]


def test_threads_draw_from_pythons_and_numpys_global_generators_as_processes_do() -> None:
    torch.manual_seed(3)
    base = int(torch.empty((), dtype=torch.int64).random_().item())
    torch.manual_seed(3)
    random.seed(5)
    np.random.seed(5)
    found: dict[int, list[Any]] = {0: [], 1: []}
    for worker, drawn in DataLoader(GlobalDraws(6), batch_size=None, num_workers=2):
        found[worker].append(tuple(drawn))
    assert found == {worker: expected_of(worker, base, 3) for worker in (0, 1)}
    assert random.random() == random.Random(5).random()  # the loop's own are where they were
    assert np.random.rand() == np.random.RandomState(5).rand()
    state = random.getstate()
    first = random.gauss(0, 1), random.gauss(0, 1)
    random.setstate(state)
    assert (random.gauss(0, 1), random.gauss(0, 1)) == first and len(set(first)) == 2
    assert pickle.loads(pickle.dumps(np.random.rand)) is np.random.rand


def seeded(worker: int) -> None:
    random.seed(worker)
    np.random.seed(worker)


def test_a_worker_may_seed_its_global_generators() -> None:
    drawn = dict(DataLoader(GlobalDraws(2), batch_size=None, num_workers=2, worker_init_fn=seeded))
    for worker in (0, 1):
        python, numpy = random.Random(worker), np.random.RandomState(worker)
        assert drawn[worker][:2] == [python.random(), python.gauss(0, 1)] and drawn[worker][3] == numpy.rand()


def test_tensors_may_be_made_in_threads() -> None:
    assert values(DataLoader(Tensors(), batch_size=3, num_workers=2)) == [
        [[0, 2], [4, 6], [8, 10]],
        [[12, 14], [16, 18], [20, 22]],
    ]
    x = torch.arange(6.0)
    assert [x.tolist() for (x,) in DataLoader(TensorDataset(x), batch_size=3, num_workers=2)] == [[0, 1, 2], [3, 4, 5]]


def test_processes_make_the_same_batches() -> None:
    arguments = {"batch_size": 3, "num_workers": 2, "multiprocessing_context": "spawn"}
    assert values(DataLoader(Tensors(), **arguments)) == values(DataLoader(Tensors(), batch_size=3))


def test_a_processs_random_numbers_are_those_of_torchs_workers() -> None:
    torch.manual_seed(0)
    batches = list(DataLoader(Seeds(), batch_size=None, num_workers=1, multiprocessing_context="spawn"))
    base = batches[0][1]
    state = np.random.SeedSequence([0, base & 0xFFFFFFFF, base >> 32, 0]).generate_state(4)
    assert batches[0][2] == np.random.RandomState(state).rand()


@pytest.mark.parametrize(
    ("dataset", "kind", "message"),
    [(Broken(), KeyError, "sample 3 is broken"), (Odd(2), RuntimeError, "0 and 1")],
)
def test_a_processs_exception_reaches_the_loop_with_its_traceback(dataset, kind, message) -> None:
    with pytest.raises(kind, match=message) as caught:
        list(DataLoader(dataset, num_workers=1, multiprocessing_context="spawn"))
    assert "in __getitem__" in str(caught.value)


class Drawing(Dataset):
    """Draws a random number for each sample, from the generator that is the worker's."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.rand(2)


def test_workers_draw_from_streams_of_their_own() -> None:
    """As torch's worker processes do: worker i starts from base_seed + i, and the loop's own stream is not touched."""
    torch.manual_seed(3)
    seed = torch.empty((), dtype=torch.int64).random_().item()
    after = torch.rand(1).item()
    torch.manual_seed(3)
    batches = list(DataLoader(Drawing(), batch_size=2, num_workers=2))
    assert torch.rand(1).item() == after
    for worker in range(2):
        own = torch.Generator().manual_seed(int(seed) + worker)
        for batch in batches[worker::2]:
            expected = torch.stack([torch.rand(2, generator=own) for _ in range(2)])
            assert torch.equal(batch, expected)


@settings(max_examples=25, deadline=None)
@given(
    size=st.integers(0, 17), batch=st.integers(1, 6), workers=st.integers(1, 4), drop=st.booleans(),
    shuffle=st.booleans(), prefetch=st.integers(1, 3),
)  # fmt: skip
def test_a_loader_with_workers_yields_what_one_without_yields(
    size: int, batch: int, workers: int, drop: bool, shuffle: bool, prefetch: int
) -> None:
    data = [{"x": np.full(2, i, np.float32), "i": i} for i in range(size)]
    found = []
    options: dict[str, Any]
    for options in ({}, {"num_workers": workers, "prefetch_factor": prefetch}):
        generator = torch.Generator().manual_seed(size)
        sampler = torch.utils.data.RandomSampler(data, generator=generator) if shuffle and size else None
        loader = DataLoader(data, batch_size=batch, drop_last=drop, sampler=sampler, **options)  # type: ignore[arg-type]  # a list serves
        found.append([(b["x"].tolist(), b["i"].tolist()) for b in loader])
    assert found[0] == found[1]


@pytest.mark.parametrize("context", [None, "spawn"])
def test_on_an_accelerator_large_batches_are_sent_there_ahead(context: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (workers, pool):
        monkeypatch.setattr(module, "runs_on_host", lambda: False)
    data = list(zip(np.arange(2**16, dtype=np.float32).reshape(4, -1), range(4), strict=True))
    loader = DataLoader(data, batch_size=2, num_workers=1, multiprocessing_context=context)
    batches = [[(type(x._current().value.array) is np.ndarray, x.sum().item()) for x in batch] for batch in loader]
    sums = [(x.sum().item(), y.sum().item()) for x, y in DataLoader(data, batch_size=2)]
    assert batches == [[(False, x), (True, y)] for x, y in sums]


def test_a_worker_begins_with_torchs_words() -> None:
    assert workers._generate_state(12345678901234, 3) == [2677634501, 810098766, 226270600, 4115140591]
