"""torch.hub gets repositories of GitHub, of which a server here stands in, and asks whom it may trust."""

from __future__ import annotations

import io
import json
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from funcgrad import hub, hub_repositories

_HUBCONF = 'dependencies = ["math"]\n\n\ndef net(size=2):\n    """Return a list."""\n    return [VERSION] * size\n'


def packed(version: int, dependency: str = "math") -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr(
            "someone-nets-0123abc/hubconf.py", f"VERSION = {version}\n" + _HUBCONF.replace("math", dependency)
        )
        archive.writestr("someone-nets-0123abc/part/inside.py", "")
    return whole.getvalue()


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, bytes]]:
    """What GitHub answers, by path."""
    branches = [{"name": "v1.0", "commit": {"sha": "0123abc"}}]
    found = {
        "/someone/nets/tree/main/": b"", "/someone/nets/zipball/main": packed(1),
        "/someone/nets/zipball/v1.0": packed(0), "/someone/nets/zipball/0123": packed(2),
        "/someone/nets/branches?per_page=100&page=1": json.dumps([{**branches[0], "name": "main"}]).encode(),
        "/someone/nets/branches?per_page=100&page=2": b"[]",
        "/someone/nets/tags?per_page=100&page=1": json.dumps(branches).encode(),
        "/someone/nets/tags?per_page=100&page=2": b"[]",
        "/pytorch/old/zipball/master": packed(3, "not_there"),
    }  # fmt: skip

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path in found else 404)
            self.end_headers()
            self.wfile.write(found.get(self.path, b""))

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for name in ("_GITHUB", "_API"):
            monkeypatch.setattr(hub_repositories, name, f"http://127.0.0.1:{server.server_port}")
        hub.set_dir(tmp_path / "hub")
        yield found
        server.shutdown()


def test_a_repository_is_downloaded_once(pages: dict[str, bytes], capsys: pytest.CaptureFixture[str]) -> None:
    assert hub.load("someone/nets", "net", trust_repo=True, size=3) == [1, 1, 1]
    folder = Path(hub.get_dir()) / "someone_nets_main"
    assert (folder / "part" / "inside.py").exists() and sorted(p.name for p in folder.parent.iterdir()) == [
        "someone_nets_main", "trusted_list",
    ]  # fmt: skip
    assert capsys.readouterr().out.endswith(f'/someone/nets/zipball/main" to {folder}.zip\n')
    pages["/someone/nets/zipball/main"] = packed(7)
    assert hub.load("someone/nets", "net") == [1, 1]
    assert capsys.readouterr().err == f"Using cache found in {folder}\n"
    assert hub.load("someone/nets", "net", force_reload=True, verbose=False) == [7, 7]
    assert hub.list("someone/nets", verbose=False) == ["net"]
    assert hub.help("someone/nets", "net") == "Return a list."


@pytest.mark.parametrize(("ref", "version"), [("v1.0", 0), ("0123", 2)])
def test_a_tag_or_a_commit_can_be_named(pages: dict[str, bytes], ref: str, version: int) -> None:
    assert hub.load(f"someone/nets:{ref}", "net", trust_repo=True) == [version] * 2
    assert (Path(hub.get_dir()) / f"someone_nets_{ref}").is_dir()


def test_a_ref_of_a_fork_is_refused(pages: dict[str, bytes]) -> None:
    pages["/someone/nets/zipball/fff"] = packed(4)
    with pytest.raises(ValueError, match=r"Cannot find fff in https://github\.com/someone/nets"):
        hub.load("someone/nets:fff", "net", trust_repo=True)
    assert hub.load("someone/nets:fff", "net", trust_repo=True, skip_validation=True) == [4, 4]


@pytest.mark.parametrize(
    ("answer", "refused"), [("", "Untrusted repository"), ("maybe", "Unrecognized response maybe")]
)
def test_who_is_not_trusted_is_asked_for(
    answer: str, refused: str, pages: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.input", lambda _: answer)
    with pytest.raises(Exception, match=refused):
        hub.load("someone/nets", "net")
    monkeypatch.setattr("builtins.input", lambda _: "y")
    assert hub.load("someone/nets", "net") == [1, 1]
    monkeypatch.setattr("builtins.input", lambda _: pytest.fail("it is trusted already"))
    assert hub.load("someone/nets:v1.0", "net") == [0, 0]


def test_an_older_branch_and_missing_dependencies(pages: dict[str, bytes]) -> None:
    with pytest.raises(RuntimeError, match="Missing dependencies: not_there"):
        hub.load("pytorch/old", "net", skip_validation=True)
    assert (Path(hub.get_dir()) / "pytorch_old_master").is_dir()


def test_without_a_network_what_is_kept_is_found(pages: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    assert hub.load("someone/nets", "net", trust_repo=True) == [1, 1]
    monkeypatch.setattr(hub_repositories, "_GITHUB", "http://127.0.0.1:9")
    assert hub.load("someone/nets", "net") == [1, 1]
    with pytest.raises(RuntimeError, match=r"no internet connection.*give its folder with source='local'"):
        hub.load("someone/others", "net")
