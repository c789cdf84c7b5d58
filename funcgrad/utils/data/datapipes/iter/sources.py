"""Where streams begin: anything that can be iterated over, the files of folders, and what stands in them."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from funcgrad._base.warning import warn
from funcgrad.utils.data.datapipes.datapipe import IterDataPipe, functional_datapipe, length_of
from funcgrad.utils.data.datapipes.files import get_file_binaries_from_pathnames, get_file_pathnames_from_root

__all__ = [
    "FileListerIterDataPipe", "FileOpenerIterDataPipe", "IterableWrapperIterDataPipe", "StreamReaderIterDataPipe",
]  # fmt: skip


class IterableWrapperIterDataPipe(IterDataPipe[Any]):
    """The items of anything that can be iterated over, copied before each pass unless `deepcopy` is False."""

    def __init__(self, iterable: Iterable[Any], deepcopy: bool = True) -> None:
        self.iterable, self.deepcopy = iterable, deepcopy

    def __iter__(self) -> Iterator[Any]:
        items = self.iterable
        if self.deepcopy:
            try:
                items = copy.deepcopy(self.iterable)
            except TypeError:
                warn(
                    "The input iterable can not be deepcopied, please be aware of in-place modification would affect "
                    "source data."
                )
        yield from items

    def __len__(self) -> int:
        return length_of(self, self.iterable)


class _OfNominalLength(IterDataPipe[Any]):
    """A stream whose length is what its maker says; -1: nobody knows."""

    length: int

    def __len__(self) -> int:
        if self.length == -1:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
        return self.length


@functional_datapipe("list_files")
class FileListerIterDataPipe(_OfNominalLength):
    """The paths of the files in folders, of those whose names fit one of `masks`: patterns of the shell."""

    def __init__(
        self, root: str | Sequence[str] | IterDataPipe[Any] = ".", masks: str | list[str] = "", *,
        recursive: bool = False, abspath: bool = False, non_deterministic: bool = False, length: int = -1,
    ) -> None:  # fmt: skip
        folders = [root] if isinstance(root, str) else root
        self.datapipe = folders if isinstance(folders, IterDataPipe) else IterableWrapperIterDataPipe(folders)
        self.masks, self.recursive, self.abspath, self.length = masks, recursive, abspath, length
        self.non_deterministic = non_deterministic

    def __iter__(self) -> Iterator[str]:
        for path in self.datapipe:
            yield from get_file_pathnames_from_root(
                path, self.masks, self.recursive, self.abspath, self.non_deterministic
            )


@functional_datapipe("open_files")
class FileOpenerIterDataPipe(_OfNominalLength):
    """Paths with their open files. mode: "r", or "b" ("rb") for bytes, "t" ("rt") for text."""

    def __init__(self, datapipe: Iterable[str], mode: str = "r", encoding: str | None = None, length: int = -1) -> None:
        if mode not in ("b", "t", "rb", "rt", "r"):
            raise ValueError(f"Invalid mode {mode}")
        if "b" in mode and encoding is not None:
            raise ValueError("binary mode doesn't take an encoding argument")
        self.datapipe, self.mode, self.encoding, self.length = datapipe, mode, encoding, length

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        yield from get_file_binaries_from_pathnames(self.datapipe, self.mode, self.encoding)


@functional_datapipe("read_from_stream")
class StreamReaderIterDataPipe(IterDataPipe[Any]):
    """What stands in open files, each with its label; in pieces of `chunk` bytes, or whole."""

    def __init__(self, datapipe: Iterable[tuple[str, Any]], chunk: int | None = None) -> None:
        self.datapipe, self.chunk = datapipe, chunk

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for label, stream in self.datapipe:
            while piece := stream.read(self.chunk):
                yield label, piece
            stream.close()
