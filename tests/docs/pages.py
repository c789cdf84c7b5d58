"""Reading a Markdown page as a program: its python blocks, and what each says that it prints.

A block says so in comments `# prints: ...` on its lines, or in a block of text (```text) that follows it directly.
A block of `>>>` lines is a doctest; one that says nothing is only run. The blocks of a page share their names.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```[ ]*$", re.MULTILINE | re.DOTALL)
_PRINTS = re.compile(r"#\s*prints:\s?(.*)$", re.MULTILINE)


class Block(NamedTuple):
    """A python block: the line it begins at, its text, and what it should print."""

    line: int
    source: str
    expected: str | None


def blocks(page: str) -> Iterator[Block]:
    """Yield the python blocks of a page."""
    fences = list(_FENCE.finditer(page))
    for i, fence in enumerate(fences):
        if fence[1] not in ("python", "py"):
            continue
        following = fences[i + 1] if i + 1 < len(fences) else None
        is_output = following and following[1] == "text" and not page[fence.end() : following.start()].strip()
        expected = following[2] if following and is_output else _said(fence[2])
        yield Block(page[: fence.start(2)].count("\n") + 1, fence[2], expected)


def _said(source: str) -> str | None:
    said = _PRINTS.findall(source)
    return "".join(f"{line.rstrip()}\n" for line in said) if said else None


def run(path: Path) -> None:
    """Run a page. AssertionError where a block prints something else than it says."""
    page = path.read_text()
    names: dict[str, Any] = {"__name__": "__page__"}
    for block in blocks(page):
        where = f"{path.name}:{block.line}"
        if ">>>" in block.source:
            _run_doctest(block, names, where)
            continue
        printed = io.StringIO()
        padded = "\n" * (block.line - 1) + block.source  # so that a traceback shows the page's own line
        with contextlib.redirect_stdout(printed):
            exec(compile(padded, str(path), "exec"), names)
        if block.expected is not None:
            assert printed.getvalue() == block.expected, f"{where} prints\n{printed.getvalue()}not\n{block.expected}"


def _run_doctest(block: Block, names: dict[str, Any], where: str) -> None:
    test = doctest.DocTestParser().get_doctest(block.source, names, where, where, block.line)
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=report.write, clear_globs=False)
    names.update(test.globs)
    assert runner.failures == 0, report.getvalue()


def links(page: str) -> list[tuple[str, str]]:
    """Return the links of a page to files of this repository: (path, anchor)."""
    found = re.findall(r"\]\(([^)\s#]*)#?([^)\s]*)\)", _FENCE.sub("", page))
    return [(path, anchor) for path, anchor in found if "://" not in path and not path.startswith("mailto:")]


def anchors(page: str) -> set[str]:
    """Return the names under which a page's headings can be linked to, as code forges make them."""
    headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
