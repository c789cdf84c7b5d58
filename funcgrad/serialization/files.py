"""Files that are replaced as a whole: whoever reads the path sees the old content or the new one, never a part."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Give a file to write; after the block it takes the place of `path`, after an error it is gone.

    A link is followed. What is no regular file (a device, a pipe) is written in place, as is a file in a folder that
    the user may not change. RuntimeError where the folder does not exist.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise RuntimeError(f"Parent directory {target.parent} does not exist.")
    in_place = target.exists() and (not target.is_file() or not os.access(target.parent, os.W_OK))
    if in_place:
        with target.open("wb") as file:
            yield file
        return
    draft = target.with_name(f".{target.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with draft.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            draft.chmod(target.stat().st_mode & 0o7777)
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


@contextmanager
def writing(f: Any) -> Iterator[BinaryIO]:
    """Give a file to write, for a path or an open file."""
    if isinstance(f, (str, os.PathLike)):
        with replacing(f) as file:
            yield file
        return
    if not callable(getattr(f, "write", None)):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
    yield f
    f.flush()
