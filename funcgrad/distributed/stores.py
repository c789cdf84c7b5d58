"""Stores: what processes tell each other, by key; with one process, nobody is waited for."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar


class DistError(RuntimeError):
    """What goes wrong between processes."""


class DistBackendError(DistError):
    """A library for communication failed."""


class DistNetworkError(DistError):
    """A network failed."""


class DistStoreError(DistError):
    """A key is not in a store."""


class Store:
    """Values by key, for the one process that there is. Values are bytes; text is encoded."""

    _marks = 0  # keys that torch's own kind of store keeps beside those that are set

    def __init__(self, *_: Any, **__: Any) -> None:
        self._kept: MutableMapping[str, bytes] = {}
        self.timeout = timedelta(minutes=5)

    def set(self, key: str, value: str | bytes) -> None:
        """Keep a value."""
        self._kept[key] = _as_bytes(value)

    def get(self, key: str) -> bytes:
        """Return a value that was set; DistStoreError for one that nobody will set."""
        self.wait([key])
        return self._kept[key]

    def add(self, key: str, amount: int) -> int:
        """Add to a counter and return it."""
        total = int(self._kept.get(key, b"0")) + amount
        self._kept[key] = str(total).encode()
        return total

    def append(self, key: str, value: str | bytes) -> None:
        """Put a value after what is there."""
        self._kept[key] = self._kept.get(key, b"") + _as_bytes(value)

    def check(self, keys: Sequence[str]) -> bool:
        """Tell whether all keys are there."""
        return all(key in self._kept for key in keys)

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Raise DistStoreError unless all keys are there: there is no other process that could set them."""
        if missing := [key for key in keys if key not in self._kept]:
            raise DistStoreError(f"nobody set {', '.join(missing)}, and there is no other process that could")

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Set a value if the one there is the expected (b"": none is there); return what is there then."""
        expected, present = _as_bytes(expected_value), self._kept.get(key, b"")
        if present == expected:
            self._kept[key] = _as_bytes(desired_value)
        return self._kept.get(key, expected)

    def delete_key(self, key: str) -> bool:
        """Forget a key; tell whether it was there."""
        return self._kept.pop(key, None) is not None

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """Return the values of several keys."""
        return [self.get(key) for key in keys]

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """Keep a value for each key."""
        for key, value in zip(keys, values, strict=True):
            self.set(key, value)

    def num_keys(self) -> int:
        """Return how many keys there are, torch's own mark of a store among them."""
        return len(self._kept) + self._marks

    def list_keys(self) -> list[str]:
        """Return the keys."""
        return list(self._kept)

    def set_timeout(self, timeout: timedelta) -> None:
        """Keep how long torch would wait for a key."""
        self.timeout = timeout

    def barrier(self, key: str, world_size: int, timeout: timedelta | None = None) -> None:
        """Wait for all processes: for none."""

    def has_extended_api(self) -> bool:
        """Tell that it has `append`, `multi_get` and `multi_set`."""
        return True


class TCPStore(Store):
    """A store that clients of the same host and port share; no port is opened."""

    _marks = 1
    _servers: ClassVar[dict[tuple[str, int], MutableMapping[str, bytes]]] = {}

    def __init__(self, host_name: str, port: int, *_: Any, **__: Any) -> None:
        super().__init__()
        self.host, self.port = host_name, port
        if port:
            self._kept = self._servers.setdefault((host_name, port), self._kept)


class FileStore(Store):
    """A store that those of the same path share; no file is written."""

    _marks = 1
    _files: ClassVar[dict[str, MutableMapping[str, bytes]]] = {}

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        super().__init__()
        self.path = str(file_name)
        self._kept = self._files.setdefault(self.path, self._kept)


class HashStore(Store):
    """A store within a process."""


class PrefixStore(Store):
    """A store whose keys another one keeps, each after a prefix."""

    def __init__(self, prefix: str, store: Store) -> None:
        super().__init__()
        self.underlying_store, self._prefix = store, prefix
        self._kept = _Prefixed(store._kept, f"{prefix}/")


class _Prefixed(MutableMapping[str, bytes]):
    """The part of a dictionary whose keys begin with a prefix; it counts and lists the keys of the whole, as torch."""

    def __init__(self, whole: MutableMapping[str, bytes], prefix: str) -> None:
        self.whole, self.prefix = whole, prefix

    def __getitem__(self, key: str) -> bytes:
        return self.whole[self.prefix + key]

    def __setitem__(self, key: str, value: bytes) -> None:
        self.whole[self.prefix + key] = value

    def __delitem__(self, key: str) -> None:
        del self.whole[self.prefix + key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.whole)

    def __len__(self) -> int:
        return len(self.whole)


def _as_bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)
