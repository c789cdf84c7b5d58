"""What mkdocs asks before it builds: the generated pages of the reference, and the order of all pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from funcgrad.explain import reference

FIRST = ("index.md", "migrating.md", "laziness.md", "explain.md", "differences.md", "settings.md", "from_scratch.md")
SECTIONS = {"Questions": "questions/", "Decisions": "decisions/", "Reference": "reference/"}


def on_files(files: Files, config: Any) -> Files:
    """Add the reference's pages."""
    for path, text in reference.pages().items():
        files.append(File.generated(config, path, content=text))
    paths = sorted(file.src_uri for file in files.documentation_pages())
    others = [path for path in paths if "/" not in path and path not in FIRST]
    config["nav"] = [*FIRST, *others] + [
        {title: sorted((path for path in paths if path.startswith(folder)), key=_index_first)}
        for title, folder in SECTIONS.items()
    ]
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Name the files that the repository has beside the documentation, where a page links to them."""
    here = Path(config["docs_dir"], page.file.src_uri).parent

    def named(link: re.Match[str]) -> str:
        words, target = link.groups()
        return words if (here / target).is_file() else link[0]

    return re.sub(r"\[([^\[\]]+)\]\(((?:\.\./)+(?:examples|tests)/[^)#]+)\)", named, markdown)


def _index_first(path: str) -> tuple[bool, str]:
    return not path.endswith(("index.md", "README.md")), path.lower()
