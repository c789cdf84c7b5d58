"""Repositories on GitHub that torch.hub loads: which is meant, whether it is trusted, and where it is unpacked."""

from __future__ import annotations

import json
import os
import shutil
import sys
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError

_GITHUB, _API = "https://github.com", "https://api.github.com/repos"
_TRUSTED_OWNERS = ("facebookresearch", "facebookincubator", "pytorch", "fairinternal")
_BRANCHES = ("main", "master")


class Repository(NamedTuple):
    """A repository at one of its branches, tags or commits (`ref`)."""

    owner: str
    name: str
    ref: str

    @property
    def folder(self) -> str:
        """The name of the folder that it is kept in."""
        return f"{self.owner}_{self.name}_{self.ref.replace('/', '_')}"


def kept(
    github: str, where: Path, *, force_reload: bool, trust_repo: Any, verbose: bool, skip_validation: bool
) -> Path:
    """Return the folder of "owner/name[:ref]", which is downloaded if it is not there, or anew where that is asked for.

    where: the hub's folder. trust_repo: True, or "check" or False to ask at the terminal (False: in any case).
    skip_validation: whether not to ask GitHub if the ref is the repository's own, and not that of a fork.

    URLError or RuntimeError without a network; ValueError for a ref that is another's; Exception where the user does
    not trust the repository.
    """
    where.mkdir(parents=True, exist_ok=True)
    repository = _named(github, where, force_reload)
    folder = where / repository.folder
    _trust(repository, where, trust_repo)
    if folder.exists() and not force_reload:
        if verbose:
            sys.stderr.write(f"Using cache found in {folder}\n")
        return folder
    if not skip_validation:
        _refuse_forks(repository)
    _download(repository, folder)
    return folder


def _named(github: str, where: Path, force_reload: bool) -> Repository:
    path, _, ref = github.partition(":")
    owner, name = path.split("/")
    there = [branch for branch in _BRANCHES if (where / Repository(owner, name, branch).folder).exists()]
    if ref or (there and not force_reload):
        return Repository(owner, name, ref or there[0])
    try:
        with urllib.request.urlopen(f"{_GITHUB}/{owner}/{name}/tree/main/"):
            return Repository(owner, name, "main")
    except HTTPError as error:
        if error.code != 404:
            raise
        return Repository(owner, name, "master")
    except URLError as error:
        if there:
            return Repository(owner, name, there[0])
        raise RuntimeError(
            "It looks like there is no internet connection and the repo could not be found in the cache "
            f"({where}). Get it elsewhere, and give its folder with source='local'."
        ) from error


def _trust(repository: Repository, where: Path, trust_repo: Any) -> None:
    """Ask at the terminal where it is not known whether a repository is trusted; remember that it is."""
    listed = where / "trusted_list"
    listed.touch()
    name = f"{repository.owner}_{repository.name}"
    is_listed = name in listed.read_text().split()
    is_trusted = is_listed or repository.owner in _TRUSTED_OWNERS or (where / repository.folder).is_dir()
    if trust_repo is False or (trust_repo == "check" and not is_trusted):
        answer = input(
            f"The repository {name} does not belong to the list of trusted repositories and as such cannot be "
            "downloaded. Do you trust this repository and wish to add it to the trusted list of repositories (y/N)?"
        ).lower()
        if answer in ("n", "no", ""):
            raise Exception("Untrusted repository.")
        if answer not in ("y", "yes"):
            raise ValueError(f"Unrecognized response {answer}.")
    if not is_trusted:
        with listed.open("a") as file:
            file.write(f"{name}\n")


def _refuse_forks(repository: Repository) -> None:
    """ValueError for a ref that no branch or tag of the repository's own has: GitHub gives those of forks too."""
    owner, name, ref = repository
    for kind in ("branches", "tags"):
        page = 1
        while found := _asked(f"{_API}/{owner}/{name}/{kind}?per_page=100&page={page}"):
            if any(one["name"] == ref or one["commit"]["sha"].startswith(ref) for one in found):
                return
            page += 1
    raise ValueError(
        f"Cannot find {ref} in https://github.com/{owner}/{name}. If it's a commit from a forked repo, please call "
        "hub.load() with forked repo directly."
    )


def _asked(url: str) -> Any:
    headers = {"Accept": "application/vnd.github.v3+json"}
    if token := os.environ.get("GITHUB_TOKEN"):
        headers["Authorization"] = f"token {token}"
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
        return json.loads(answer.read())


def _download(repository: Repository, folder: Path) -> None:
    """Unpack what GitHub packs of a repository, which is one folder, as `folder`."""
    url = f"{_GITHUB}/{repository.owner}/{repository.name}/zipball/{repository.ref}"
    archive, unpacked = Path(f"{folder}.zip"), Path(f"{folder}.new")
    sys.stdout.write(f'Downloading: "{url}" to {archive}\n')
    with urllib.request.urlopen(url) as answer, archive.open("wb") as file:
        shutil.copyfileobj(answer, file)
    shutil.unpack_archive(archive, unpacked, "zip")
    archive.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    (whole,) = unpacked.iterdir()
    whole.rename(folder)
    unpacked.rmdir()
