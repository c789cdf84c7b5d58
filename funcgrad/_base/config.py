"""The settings that the environment gives (FUNCGRAD_*), read once at import and changed only through this object."""

from __future__ import annotations

import os
from pathlib import Path


class Settings:
    """The switches and bounds; docs/settings.md says what they are for.

    ahead: elements that a training step writes after its loss, to be a program apart from it (0: none is). eager: run
    each op as it is recorded. cache: folder of compiled programs. freeze: keep the collector from what
    importing made. host: let numpy run small programs. length: instructions per program.
    lengths: that are run as they are before one program serves many (0: each is). programs: that are kept
    compiled. turns: of a repeat that becomes a loop (0: none does). piece: instructions that go to XLA in one piece.
    strict: raise torch's errors for what saved values make harmless here.
    """

    __slots__ = (
        "ahead", "cache", "eager", "freeze", "host", "length", "lengths", "piece", "programs", "strict", "turns",
    )  # fmt: skip

    def __init__(self, environment: dict[str, str]) -> None:
        self.ahead = int(environment.get("FUNCGRAD_AHEAD", "50000"))
        self.eager = environment.get("FUNCGRAD_EAGER", "0") not in ("", "0")
        self.cache = _cache_folder(environment)
        self.freeze = environment.get("FUNCGRAD_FREEZE", "1") not in ("", "0")
        self.host = environment.get("FUNCGRAD_HOST", "1") not in ("", "0")
        self.length = int(environment.get("FUNCGRAD_LENGTH", "262144"))
        self.lengths = int(environment.get("FUNCGRAD_LENGTHS", "2"))
        self.piece = int(environment.get("FUNCGRAD_PIECE", "4096"))
        self.turns = int(environment.get("FUNCGRAD_TURNS", "16"))
        self.programs = int(environment.get("FUNCGRAD_PROGRAMS", "512"))
        self.strict = environment.get("FUNCGRAD_STRICT", "0") not in ("", "0")


def _cache_folder(environment: dict[str, str]) -> Path | None:
    given = environment.get("FUNCGRAD_CACHE", "")
    if given.lower() in ("off", "0"):
        return None
    if given:
        return Path(given)
    return Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "funcgrad"


settings = Settings(dict(os.environ))
