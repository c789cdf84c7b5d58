"""The scripts of `examples/scripts/` run unchanged, and print what PyTorch prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples import scripts

QUICK = ["mlp_classifier", "distillation", "matrix_factorisation", "maml"]
EARLY = {"siamese": 1e-3}  # PyTorch's own figure between two CPUs is 4e-4 there
pytest.importorskip("sklearn")


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compiled")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.thorough) for n in scripts.names()]
)
def test_a_script_prints_what_was_recorded_of_pytorch(name: str, cache: Path) -> None:
    found = scripts.run(scripts.path_of(name), funcgrad=True, environment={"FUNCGRAD_CACHE": str(cache)})
    difference = scripts.difference(scripts.recorded(name), found.lines)
    assert difference.early <= EARLY.get(name, scripts.SAME)
    if name in QUICK:
        assert not difference.other_words
        assert difference.largest <= scripts.SAME


@pytest.mark.parity
@pytest.mark.thorough
@pytest.mark.parametrize("name", scripts.names())
def test_a_script_prints_what_pytorch_prints(name: str, cache: Path) -> None:
    pytest.importorskip("torch")
    expected = scripts.run(scripts.path_of(name), funcgrad=False)
    found = scripts.run(scripts.path_of(name), funcgrad=True, environment={"FUNCGRAD_CACHE": str(cache)})
    assert scripts.difference(expected.lines, found.lines).early <= EARLY.get(name, scripts.SAME)


def test_times_do_not_count_and_other_words_do() -> None:
    same = scripts.difference(["loss 1.50, 3.2 s", "done in 12 ms"], ["loss 1.50, 9 s", "done in 7 ms"])
    assert same == scripts.Difference(0.0, 0.0, [])
    apart = scripts.difference(["loss 1.50", "loss 100.0", "said yes"], ["loss 1.51", "loss 101.0", "said no"])
    assert apart.early == pytest.approx(0.01 / 1.5)
    assert apart.largest == pytest.approx(0.01)
    assert apart.other_words == [("said yes", "said no")]
    assert scripts.difference(["nan"], ["nan"]).largest == 0
    assert scripts.difference(["nan"], ["1.0"]).largest == float("inf")
    assert not scripts.difference(["a", "b"], ["a"]).is_same_curve
    assert not scripts.difference(["[-0.48 ]"], ["[-0.503]"]).other_words
