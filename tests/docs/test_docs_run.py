"""Every python block in the documentation runs, and prints what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs import pages

ROOT = Path(__file__).resolve().parents[2]
PAGES = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if path.exists()]


@pytest.mark.usefixtures("at_first")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_page_is_true(page: Path) -> None:
    pages.run(page)


def test_a_block_that_prints_something_else_is_noticed(tmp_path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n```python\nprint(1 + 1)  # prints: 3\n```\n")
    with pytest.raises(AssertionError, match=r"page\.md:4 prints\n2\nnot\n3"):
        pages.run(page)


def test_a_page_may_print_blocks_of_text_and_hold_doctests(tmp_path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 2\nprint(x, x)\n```\n\n```text\n2 2\n```\n\n```python\n>>> x + 1\n3\n```\n")
    pages.run(page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target, anchor in pages.links(page.read_text()):
        other = page if not target else page.parent / target
        assert other.exists(), target
        assert not anchor or anchor in pages.anchors(other.read_text()), anchor
