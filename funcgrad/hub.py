"""torch.hub: models and checkpoints from folders of the user's, from repositories and from addresses."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import re
import sys
import urllib.request
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlparse

from funcgrad import serialization
from funcgrad.hub_repositories import kept
from funcgrad.serialization.files import writing


class _Progress:
    """Stands for `tqdm` where that is not installed: writes to stderr how much of `total` there is."""

    def __init__(self, total: float | None = None, disable: bool = False, unit: Any = None, *_: Any, **__: Any) -> None:
        self.total, self.disable, self.n = total, disable, 0

    def update(self, n: int) -> None:
        """Count `n` more, and show it."""
        if self.disable:
            return
        self.n += n
        sys.stderr.write(f"\r{self.n:.1f} bytes" if self.total is None else f"\r{100 * self.n / self.total:.1f}%")
        sys.stderr.flush()

    def set_description(self, *_: Any, **__: Any) -> None:
        """Do nothing: only numbers are shown."""

    def write(self, s: str) -> None:
        """Write a line."""
        sys.stderr.write(f"{s}\n")

    def close(self) -> None:
        """Show nothing from now on."""
        self.disable = True

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.disable:
            sys.stderr.write("\n")


tqdm: Any = importlib.import_module("tqdm").tqdm if importlib.util.find_spec("tqdm") else _Progress
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
_folder: deque[str] = deque(maxlen=1)


def get_dir() -> str:
    """Return the folder of models and checkpoints: what `set_dir` chose, $TORCH_HOME/hub, or ~/.cache/torch/hub."""
    if _folder:
        return _folder[0]
    return os.path.join(_get_torch_home(), "hub")


def _get_torch_home() -> str:
    """Return $TORCH_HOME, or ~/.cache/torch."""
    home = os.environ.get("TORCH_HOME") or os.path.join(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "torch")
    return os.path.expanduser(home)


def set_dir(d: str | os.PathLike[str]) -> None:
    """Choose the folder of models and checkpoints."""
    _folder.append(os.path.expanduser(os.fspath(d)))


def load(
    repo_or_dir: str, model: str, *args: Any, source: str = "github", trust_repo: Any = "check",
    force_reload: bool = False, verbose: bool = True, skip_validation: bool = False, **kwargs: Any,
) -> Any:  # fmt: skip
    """Return what the function `model` of a repository's hubconf.py gives.

    The repository is a folder (source="local"), or "owner/name[:ref]" on GitHub, which is kept in the hub's folder. The
    options are those of `hub_repositories.kept`, whose errors these are too. ValueError for another source;
    RuntimeError where there is no such function, or modules that it depends on are missing.
    """
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    options = {"trust_repo": trust_repo, "force_reload": force_reload, "skip_validation": skip_validation}
    return _entry(_hubconf(repo_or_dir, source, verbose=verbose, **options), model)(*args, **kwargs)


def list(
    github: str, force_reload: bool = False, skip_validation: bool = False, trust_repo: Any = "check",
    verbose: bool = True, *, source: str = "github",
) -> Any:  # fmt: skip
    """Return the names that a repository's hubconf.py offers; see `load`."""
    options = {"trust_repo": trust_repo, "force_reload": force_reload, "skip_validation": skip_validation}
    found = vars(_hubconf(github, source, verbose=verbose, **options))
    return [name for name, value in found.items() if callable(value) and not name.startswith("_")]


def help(
    github: str, model: str, force_reload: bool = False, skip_validation: bool = False, trust_repo: Any = "check", *,
    source: str = "github",
) -> str | None:  # fmt: skip
    """Return the docstring of a repository's function; see `load`."""
    options = {"trust_repo": trust_repo, "force_reload": force_reload, "skip_validation": skip_validation}
    return _entry(_hubconf(github, source, verbose=True, **options), model).__doc__


def _hubconf(repository: str, source: str, **options: Any) -> ModuleType:
    folder = Path(repository) if source == "local" else kept(repository, Path(get_dir()), **options)
    sys.path.insert(0, str(folder))
    try:
        spec = importlib.util.spec_from_file_location("hubconf", folder / "hubconf.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    missing = [name for name in getattr(module, "dependencies", None) or () if importlib.util.find_spec(name) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    return module


def _entry(module: ModuleType, name: str) -> Callable[..., Any]:
    found = getattr(module, name, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {name} in hubconf")
    return found


def download_url_to_file(
    url: str, dst: str | os.PathLike[str], hash_prefix: str | None = None, progress: bool = True
) -> None:
    """Get a file from the network.

    URLError where that fails, with a note that says what to do; RuntimeError where its SHA-256 does not begin with
    `hash_prefix`.
    """
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers={"User-Agent": "funcgrad"})) as answer:
            content = answer.read()
    except OSError as error:  # of which URLError is one
        error.add_note(f"Without a network, get {url} elsewhere and put it at {dst}.")
        raise
    if hash_prefix:
        _check_hash(content, hash_prefix)
    with writing(dst) as file:
        file.write(content)


def check_named_hash(file: Path) -> None:
    """RuntimeError where a file's SHA-256 does not begin with the hash that stands in its name, if one does."""
    named = HASH_REGEX.search(file.name)
    if named:
        _check_hash(file.read_bytes(), named.group(1))


def _check_hash(content: bytes, prefix: str) -> None:
    found = hashlib.sha256(content).hexdigest()
    if not found.startswith(prefix):
        raise RuntimeError(f'invalid hash value (expected "{prefix}", got "{found}")')


def load_state_dict_from_url(
    url: str, model_dir: str | None = None, map_location: Any = None, progress: bool = True, check_hash: bool = False,
    file_name: str | None = None, weights_only: bool = False,
) -> Any:  # fmt: skip
    """Load a checkpoint from the hub's folder (`checkpoints`), where it is downloaded to if it is not there yet.

    Only tensors and plain containers are read, whatever `weights_only` says: the file comes from the network.
    """
    folder = Path(model_dir or os.path.join(get_dir(), "checkpoints"))
    path = folder / (file_name or os.path.basename(urlparse(url).path))
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        sys.stderr.write(f'Downloading: "{url}" to {path}\n')
        named = HASH_REGEX.search(path.name) if check_hash else None
        download_url_to_file(url, path, named.group(1) if named else None, progress)
    return serialization.load(path, map_location=map_location, weights_only=True)


load_url = load_state_dict_from_url
