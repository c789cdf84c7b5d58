"""Options that count: what is given is used, or refused in torch's words; nothing is passed over in silence."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import funcgrad as torch
from funcgrad import distributed, hub, jit, multiprocessing, testing
from funcgrad.nn import functional
from funcgrad.utils.data import DataLoader
from funcgrad.utils.tensorboard import writer
from funcgrad.vision import models


def test_strides_are_compared_when_asked_for() -> None:
    square = torch.zeros(2, 2)
    testing.assert_close(square, square.t())
    with pytest.raises(AssertionError, match=r"attribute 'stride\(\)' do not match: \(2, 1\) != \(1, 2\)"):
        testing.assert_close(square, square.t(), check_stride=True)


def test_samples_are_not_contiguous_when_asked_for() -> None:
    made = testing.make_tensor((2, 3), dtype=torch.float32, device="cpu", noncontiguous=True)
    assert made.stride() == (6, 2) and not made.is_contiguous()


def test_repeats_are_held_to_the_size_that_was_promised() -> None:
    x = torch.arange(2)
    assert torch.repeat_interleave(x, torch.tensor([1, 2]), output_size=3).tolist() == [0, 1, 1]
    with pytest.raises(RuntimeError, match="allocated size does not match required size"):
        torch.repeat_interleave(x, torch.tensor([1, 2]), output_size=5)
    with pytest.raises(RuntimeError, match="Invalid output_size, expected 4 but got 3"):
        torch.repeat_interleave(x, 2, output_size=3)


def test_an_option_without_effect_is_told_of() -> None:
    with pytest.warns(UserWarning, match="`eps` parameter is deprecated and has no effect"):
        functional.gumbel_softmax(torch.zeros(1), eps=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        functional.gumbel_softmax(torch.zeros(1))


def test_freezing_wants_a_scripted_module_in_evaluation() -> None:
    with pytest.raises(RuntimeError, match="Freezing expects a ScriptModule"):
        jit.freeze(torch.nn.Linear(2, 2))
    scripted = jit.script(torch.nn.Linear(2, 2))
    with pytest.raises(RuntimeError, match="only implemented for modules in eval mode"):
        jit.freeze(scripted)
    assert jit.freeze(scripted.eval()) is not scripted and list(scripted.parameters())
    with pytest.raises(RuntimeError, match="expected a function or a module, but got int"):
        jit.trace(3, torch.ones(1))


def test_sources_ranks_and_contexts_that_there_are_not_are_refused() -> None:
    with pytest.raises(ValueError, match='Unknown source: "elsewhere"'):
        hub.load("owner/repository", "model", source="elsewhere")
    with pytest.raises(TypeError, match="should be a valid context object or a string"):
        DataLoader([1], num_workers=1, multiprocessing_context=3)  # type: ignore[arg-type]  # what is refused


@pytest.fixture
def group() -> Iterator[None]:
    distributed.init_process_group("gloo", rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


@pytest.mark.usefixtures("group")
def test_collectives_refuse_ranks_and_lists_of_other_processes() -> None:
    x = torch.ones(2)
    for call in (lambda: distributed.broadcast(x, src=3), lambda: distributed.reduce(x, dst=3)):
        with pytest.raises(RuntimeError, match="invalid root rank: 3"):
            call()
    with pytest.raises(RuntimeError, match="expected a list of 1 tensor, one for each process, but got 2"):
        distributed.all_gather([x, x], x)
    with pytest.raises(RuntimeError, match="Split sizes doesn't match total dim 0 size"):
        distributed.all_to_all_single(torch.zeros(2), x, [1], [1])
    with pytest.raises(ValueError, match="Rank 3 is out of range"):
        distributed.new_group([3])


def test_the_start_method_is_set_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiprocessing, "_chosen", {})
    assert multiprocessing.get_start_method(allow_none=True) is None
    multiprocessing.set_start_method("spawn")
    with pytest.raises(RuntimeError, match="context has already been set"):
        multiprocessing.set_start_method("fork")
    multiprocessing.set_start_method("fork", force=True)
    assert multiprocessing.get_start_method() == "fork"


def test_models_are_chosen_by_pattern() -> None:
    assert models.list_models(include="resnet*", exclude=["resnet1*", "resnet34"]) == ["resnet50"]
    assert models.list_models() == sorted(models.list_models(models))


def test_a_file_is_held_to_the_hash_in_its_name(tmp_path: Path) -> None:
    file = tmp_path / "net-00000000.pth"
    file.write_bytes(b"weights")
    with pytest.raises(RuntimeError, match=r'invalid hash value \(expected "00000000", got "[0-9a-f]{64}"\)'):
        hub.check_named_hash(file)


def test_neighbouring_bins_are_joined() -> None:
    counts, edges = writer._joined([1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5], 2)
    assert counts.tolist() == [3, 7, 5] and edges.tolist() == [0, 2, 4, 5]


def test_moments_without_timing_cannot_be_compared() -> None:
    with pytest.raises(RuntimeError, match="must be created with argument 'enable_timing=True'"):
        torch.cuda.Event().elapsed_time(torch.cuda.Event(enable_timing=True))
