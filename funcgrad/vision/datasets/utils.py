"""torchvision.datasets.utils: files from the network, their MD5 sums, archives; and what data sets check."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import importlib
import importlib.util
import lzma
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from funcgrad.hub import download_url_to_file

__all__ = [
    "calculate_md5", "check_integrity", "check_md5", "download_and_extract_archive", "download_file_from_google_drive",
    "download_url", "extract_archive", "iterable_to_str", "list_dir", "list_files", "verify_str_arg",
]  # fmt: skip

PathLike = str | os.PathLike[str]
_OPENED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_CORRUPTED = "File not found or corrupted."


def calculate_md5(fpath: PathLike, chunk_size: int = 1 << 20) -> str:
    """Return the MD5 sum of a file, in hexadecimal."""
    with open(fpath, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def check_md5(fpath: PathLike, md5: str, **options: Any) -> bool:
    """Tell whether a file has this MD5 sum."""
    return md5 == calculate_md5(fpath, **options)


def check_integrity(fpath: PathLike, md5: str | None = None) -> bool:
    """Tell whether there is a file, and of this MD5 sum if one is given."""
    return os.path.isfile(fpath) and (md5 is None or check_md5(fpath, md5))


def download_url(
    url: str, root: PathLike, filename: PathLike | None = None, md5: str | None = None, max_redirect_hops: int = 3
) -> None:
    """Get a file into the folder `root` unless it is there. URLError; RuntimeError where its MD5 sum is another."""
    folder = Path(root).expanduser()
    path = folder / (filename or os.path.basename(url))
    if check_integrity(path, md5):
        return
    folder.mkdir(parents=True, exist_ok=True)
    download_url_to_file(url, path)
    if not check_integrity(path, md5):
        raise RuntimeError(_CORRUPTED)


def download_file_from_google_drive(
    file_id: str, root: PathLike, filename: PathLike | None = None, md5: str | None = None
) -> None:
    """Get a file that Google Drive has under this number, by gdown. RuntimeError where that is not installed."""
    folder = Path(root).expanduser()
    path = folder / (filename or file_id)
    if check_integrity(path, md5):
        return
    if importlib.util.find_spec("gdown") is None:
        raise RuntimeError(
            "To download files from GDrive, 'gdown' is required. You can install it with 'pip install gdown'."
        )
    folder.mkdir(parents=True, exist_ok=True)
    importlib.import_module("gdown").download(id=file_id, output=os.fspath(path), quiet=False)
    if not check_integrity(path, md5):
        raise RuntimeError(_CORRUPTED)


def extract_archive(from_path: PathLike, to_path: PathLike | None = None, remove_finished: bool = False) -> str:
    """Unpack an archive, or a single compressed file, into the folder `to_path` (its own); return where it went.

    RuntimeError for a file whose name ends as none of them does.
    """
    source = Path(from_path)
    target = source.parent if to_path is None else Path(to_path)
    kind = next((name for name, endings, _ in shutil.get_unpack_formats() if source.name.endswith(tuple(endings))), "")
    if kind == "zip":
        shutil.unpack_archive(source, target, kind)
    elif kind:
        shutil.unpack_archive(source, target, kind, filter="data")
    elif source.suffix in _OPENED:
        target = target / source.stem
        with _OPENED[source.suffix](source, "rb") as packed, open(target, "wb") as unpacked:
            shutil.copyfileobj(packed, unpacked)
    elif not source.suffix:
        raise RuntimeError(
            f"File '{from_path}' has no suffixes that could be used to detect the archive type and compression."
        )
    else:
        known = sorted([ending for _, endings, _ in shutil.get_unpack_formats() for ending in endings] + [*_OPENED])
        raise RuntimeError(
            f"Unknown compression or archive type: '{source.suffix}'.\nKnown suffixes are: {iterable_to_str(known)}."
        )
    if remove_finished:
        source.unlink()
    return os.fspath(target)


def download_and_extract_archive(
    url: str, download_root: PathLike, extract_root: PathLike | None = None, filename: PathLike | None = None,
    md5: str | None = None, remove_finished: bool = False,
) -> None:  # fmt: skip
    """Get an archive as `download_url` does, and unpack it into `extract_root` (the same folder)."""
    folder = Path(download_root).expanduser()
    filename = filename or os.path.basename(url)
    download_url(url, folder, filename, md5)
    extract_archive(folder / filename, extract_root or folder, remove_finished)


def list_dir(root: PathLike, prefix: bool = False) -> list[str]:
    """Return the folders in a folder. prefix: with its path before them."""
    folder = Path(root).expanduser()
    return [os.fspath(folder / name) if prefix else name for name in os.listdir(folder) if (folder / name).is_dir()]


def list_files(root: PathLike, suffix: str | tuple[str, ...], prefix: bool = False) -> list[str]:
    """Return the files in a folder whose names end so. prefix: with its path before them."""
    folder = Path(root).expanduser()
    names = [name for name in os.listdir(folder) if (folder / name).is_file() and name.endswith(suffix)]
    return [os.fspath(folder / name) if prefix else name for name in names]


def iterable_to_str(iterable: Iterable[Any]) -> str:
    """Return the elements, each between quotation marks, with commas between them."""
    return "'" + "', '".join(map(str, iterable)) + "'"


def verify_str_arg(
    value: Any, arg: str | None = None, valid_values: Iterable[Any] | None = None, custom_msg: str | None = None
) -> Any:
    """Return `value`. ValueError where it is no text, or none of the valid ones."""
    if not isinstance(value, str):
        named = "" if arg is None else f" for argument {arg}"
        raise ValueError(f"Expected type str{named}, but got type {type(value)}.")
    if valid_values is not None and value not in valid_values:
        known = iterable_to_str(valid_values)
        raise ValueError(custom_msg or f"Unknown value '{value}' for argument {arg}. Valid values are {{{known}}}.")
    return value
