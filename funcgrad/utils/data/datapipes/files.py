"""Files for pipes: their paths under a folder, and open files that are closed when nobody needs them any more."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable, Iterator
from io import IOBase
from typing import Any, ClassVar, NoReturn

from funcgrad._base.warning import warn

__all__ = [
    "StreamWrapper", "get_file_binaries_from_pathnames", "get_file_pathnames_from_root", "match_masks",
    "validate_pathname_binary_tuple",
]  # fmt: skip
_DEEPEST = 10  # levels of containers in which open files are looked for


class StreamWrapper:
    """An open file that is closed with its last reference, or once all that were made of it are closed."""

    session_streams: ClassVar[dict[Any, int]] = {}
    debug_unclosed_streams = False

    def __init__(self, file_obj: Any, parent_stream: Any = None, name: str | None = None) -> None:
        self.file_obj, self.parent_stream, self.name = file_obj, parent_stream, name
        self.child_counter = 0
        self.close_on_last_child = self.closed = False
        if parent_stream is not None:
            if not isinstance(parent_stream, StreamWrapper):
                raise RuntimeError(f"Parent stream should be StreamWrapper, {type(parent_stream)} was given")
            parent_stream.child_counter += 1
        if StreamWrapper.debug_unclosed_streams:
            StreamWrapper.session_streams[self] = 1

    @classmethod
    def close_streams(cls, v: Any, depth: int = 0) -> None:
        """Close all files in a sample: in lists, tuples and dicts ten levels deep."""
        if depth > _DEEPEST:
            return
        if isinstance(v, StreamWrapper):
            v.close()
        elif isinstance(v, (dict, list, tuple)):
            for inner in v.values() if isinstance(v, dict) else v:
                cls.close_streams(inner, depth + 1)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["file_obj"], name)

    def close(self, *args: Any, **kwargs: Any) -> None:
        """Close the file, and the one that it was made of if that waits for this."""
        if self.closed:
            return
        if StreamWrapper.debug_unclosed_streams:
            del StreamWrapper.session_streams[self]
        parent = self.__dict__.get("parent_stream")
        if parent is not None:
            parent.child_counter -= 1
            if not parent.child_counter and parent.close_on_last_child:
                parent.close()
        if hasattr(self.file_obj, "close"):
            self.file_obj.close(*args, **kwargs)
        self.closed = True

    def autoclose(self) -> None:
        """Close the file as soon as all that were made of it are closed: now if there are none."""
        self.close_on_last_child = True
        if self.child_counter == 0:
            self.close()

    def __dir__(self) -> list[str]:
        return list({*self.__dict__, *StreamWrapper.__dict__, *dir(self.file_obj)})

    def __del__(self) -> None:
        if not self.closed:
            self.close()

    def __iter__(self) -> Iterator[Any]:
        yield from self.file_obj

    def __next__(self) -> Any:
        return next(self.file_obj)

    def __repr__(self) -> str:
        return f"StreamWrapper<{'' if self.name is None else f'{self.name},'}{self.file_obj!r}>"

    def __getstate__(self) -> Any:
        return self.file_obj

    def __setstate__(self, obj: Any) -> None:
        self.__init__(obj)


def match_masks(name: str, masks: str | list[str]) -> bool:
    """Tell whether a file's name fits one of these patterns of the shell; without any, it does."""
    patterns = [masks] if isinstance(masks, str) else masks
    return not masks or any(fnmatch.fnmatch(name, mask) for mask in patterns)


def get_file_pathnames_from_root(
    root: str, masks: str | list[str], recursive: bool = False, abspath: bool = False, non_deterministic: bool = False
) -> Iterator[str]:
    """Yield the paths of the files in a folder whose names fit, in their order unless `non_deterministic`.

    A file in the place of a folder is the only one. OSError, with a warning, for a folder that cannot be read.
    """

    def refuse(error: OSError) -> NoReturn:
        warn(f"{error.filename} : {error.strerror}")
        raise error

    if os.path.isfile(root):
        path = os.path.abspath(root) if abspath else root
        if match_masks(os.path.basename(path), masks):
            yield path
        return
    for path, folders, files in os.walk(root, onerror=refuse):
        if abspath:
            path = os.path.abspath(path)
        if not non_deterministic:
            files.sort()
        yield from (os.path.join(path, name) for name in files if match_masks(name, masks))
        if not recursive:
            return
        if not non_deterministic:
            folders.sort()  # `os.walk` goes on in this order


def get_file_binaries_from_pathnames(
    pathnames: Iterable[str], mode: str, encoding: str | None = None
) -> Iterator[tuple[str, StreamWrapper]]:
    """Yield each path with its file, opened in this mode ("b": "rb", "t": "rt"). TypeError for what is no str."""
    paths: Iterable[Any] = pathnames if isinstance(pathnames, Iterable) else [pathnames]
    for path in paths:
        if not isinstance(path, str):
            raise TypeError(f"Expected string type for pathname, but got {type(path)}")
        yield path, StreamWrapper(open(path, f"r{mode}" if mode in ("b", "t") else mode, encoding=encoding))  # noqa: SIM115 - the wrapper closes it


def validate_pathname_binary_tuple(data: Any) -> None:
    """Check that this is a path and an open file. TypeError where it is not."""
    if not isinstance(data, tuple):
        raise TypeError(f"pathname binary data should be tuple type, but it is type {type(data)}")
    if len(data) != 2:
        raise TypeError(f"pathname binary stream tuple length should be 2, but got {len(data)}")
    if not isinstance(data[0], str):
        raise TypeError(f"pathname within the tuple should have string type pathname, but it is type {type(data[0])}")
    if not isinstance(data[1], (IOBase, StreamWrapper)):
        raise TypeError(
            "binary stream within the tuple should have IOBase orits subclasses as type, but it is type "
            f"{type(data[1])}"
        )
