"""`examples/digits.py` learns to read digits, and its two styles are the same computation."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "digits.py"
pytestmark = pytest.mark.optimised

for needed in ("sklearn", "matplotlib", "tqdm"):
    pytest.importorskip(needed)


@pytest.fixture(scope="module")
def digits() -> ModuleType:
    spec = importlib.util.spec_from_file_location("digits", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = sys.modules["digits"] = importlib.util.module_from_spec(spec)  # dataclasses look there
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("model", ["mlp", "conv"])
def test_it_reads_at_least_97_of_100_test_digits(digits, model, tmp_path, capsys) -> None:
    picture = tmp_path / "curves.png"
    (history,) = digits.main(["--model", model, "--out", str(picture)]).values()
    assert history.accuracies[-1] >= 0.97
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "stateful: test accuracy 9" in capsys.readouterr().out


@pytest.mark.parametrize("model", ["mlp", "conv"])
def test_both_styles_are_the_same_up_to_rounding(digits, model, tmp_path, capsys) -> None:
    picture = tmp_path / "curves.png"
    histories = digits.main(["--style", "both", "--model", model, "--epochs", "3", "--out", str(picture)])
    assert list(histories) == ["stateful", "functional"]
    by_name = digits.differences(*histories.values())
    steps = len(histories["stateful"].losses)
    assert len(by_name) == 7
    for name, difference in by_name.items():
        assert difference.shape == (steps,)
        assert difference.max() < 1e-5, name
    np.testing.assert_allclose(histories["stateful"].accuracies, histories["functional"].accuracies, atol=1 / 360)
    printed = capsys.readouterr().out
    assert "Largest difference between the two styles, by step" in printed
    assert printed.count("ms a step") == 2
    assert picture.exists()


def test_the_functional_style_stands_alone(digits, tmp_path) -> None:
    histories = digits.main(["--style", "functional", "--epochs", "2", "--out", str(tmp_path / "curves.png")])
    assert list(histories) == ["functional"]
    assert histories["functional"].losses[-1] < histories["functional"].losses[0]
