"""The documentation builds into a site without a warning, and its reference has all that the table has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from funcgrad._tensor import front
from funcgrad.explain import reference

ROOT = Path(__file__).resolve().parents[2]
IN_README = {
    "4-layer GPT, AdamW": "gpt", "LSTM, 50 steps": "lstm", "ResNet with BatchNorm": "resnet",
    "conv net with pooling": "conv", "12-layer GPT, 150 small parameters": "deep", "MLP 784-256-256-10": "mlp",
    "MLP 8-16-16-2: what Python costs": "tiny",
}  # fmt: skip


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return reference.pages()


def test_every_public_place_of_a_row_is_in_the_reference(pages: dict[str, str]) -> None:
    for place in front.places():
        module, dot, name = place.rpartition(".")
        path = f"reference/{module or ('Tensor' if dot else 'torch')}.md"
        if not name.startswith("_") and path in pages:
            assert f"### {name}\n" in pages[path], place


def test_every_distribution_says_what_it_is(pages: dict[str, str]) -> None:
    for kind in pages["reference/distributions.md"].split("### ")[1:]:
        assert len(kind.split("```")[2].strip()) > 10, kind


def table(page: Path) -> dict[str, list[str]]:
    """Return the rows of the first table of a page, by their first cell."""
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in page.read_text().split("\n|", 1)[1].split("\n")
    ]
    return {row[0]: row[1:] for row in rows if row and row[0]}


def test_the_readmes_ratios_are_those_of_the_performance_page() -> None:
    told, measured = table(ROOT / "README.md"), table(ROOT / "docs" / "performance.md")
    for row, workload in IN_README.items():
        for said, true in zip(told[row], measured[workload][:2], strict=True):
            decimals = len(said.partition(".")[2])
            assert abs(float(said) - float(true)) <= 0.5 * 10**-decimals + 1e-9, f"{row}: {said}, measured {true}"


def test_docstrings_become_markdown() -> None:
    given = "Return a * b <c>, `*` in code.\n\n    formula * here\n\n>>> f(1)\n2"
    wanted = "Return a \\* b \\<c>, `*` in code.\n\n```text\nformula * here\n```\n\n```python\n>>> f(1)\n2\n```\n"
    assert reference.as_markdown(given) == wanted


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    mkdocs: Any = pytest.importorskip("mkdocs.commands.build")
    pytest.importorskip("material")
    configs: Any = pytest.importorskip("mkdocs.config")
    config = configs.load_config(str(ROOT / ".mkdocs.yml"), site_dir=str(tmp_path), strict=True)
    config.plugins.on_startup(command="build", dirty=False)
    mkdocs.build(config)
    home = (tmp_path / "index.html").read_text()
    assert "funcgrad from scratch" in home
    assert "softmax" in (tmp_path / "reference" / "torch" / "index.html").read_text()
