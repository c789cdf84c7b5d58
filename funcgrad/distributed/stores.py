"""Stores: what processes tell each other, by key."""

from __future__ import annotations

import time
import weakref
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from funcgrad.distributed.shelves import (
    DistBackendError,
    DistError,
    DistNetworkError,
    DistStoreError,
    Guest,
    Server,
    Shelf,
)
from funcgrad.multiprocessing import active_children

_AGAIN = 0.002  # seconds between two looks at how many processes have come
__all__ = [
    "DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "FileStore", "HashStore", "PrefixStore",
    "Store", "TCPStore",
]  # fmt: skip


class Store:
    """Values by key. Values are bytes; text is encoded. Who asks for a value waits until somebody has set it."""

    _marks = 0  # keys that torch's own kind of store keeps beside those that are set
    _prefix = ""
    _is_of_one = True  # whether only threads of this process reach it

    def __init__(self, *_: Any, **__: Any) -> None:
        self._shelf: Any = Shelf()
        self.timeout = timedelta(minutes=5)

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"cannot pickle 'torch._C._distributed_c10d.{type(self).__name__}' object")

    def set(self, key: str, value: str | bytes) -> None:
        """Keep a value."""
        self._shelf.set(self._prefix + key, _as_bytes(value))

    def get(self, key: str) -> bytes:
        """Return a value, waiting for it until the timeout. DistStoreError: it did not come, or nobody could set it."""
        self._refuse_to_wait_in_vain([key])
        return self._shelf.get(self._prefix + key, self.timeout.total_seconds())

    def add(self, key: str, amount: int) -> int:
        """Add to a counter and return it."""
        return self._shelf.add(self._prefix + key, amount)

    def append(self, key: str, value: str | bytes) -> None:
        """Put a value after what is there."""
        self._shelf.append(self._prefix + key, _as_bytes(value))

    def check(self, keys: Sequence[str]) -> bool:
        """Tell whether all keys are there."""
        return bool(self._shelf.check([self._prefix + key for key in keys]))

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Wait for keys; raises as `get` does."""
        self._refuse_to_wait_in_vain(keys)
        seconds = (self.timeout if timeout is None else timeout).total_seconds()
        self._shelf.wait([self._prefix + key for key in keys], seconds)

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Set a value if the one there is the expected (b"": none is there); return what is there then."""
        return self._shelf.compare_set(self._prefix + key, _as_bytes(expected_value), _as_bytes(desired_value))

    def delete_key(self, key: str) -> bool:
        """Forget a key; tell whether it was there."""
        return bool(self._shelf.delete_key(self._prefix + key))

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """Return the values of several keys."""
        return [self.get(key) for key in keys]

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """Keep a value for each key."""
        for key, value in zip(keys, values, strict=True):
            self.set(key, value)

    def num_keys(self) -> int:
        """Return how many keys there are, torch's own mark of a store among them."""
        return len(self.list_keys()) + self._marks

    def list_keys(self) -> list[str]:
        """Return the keys, those of other prefixes too."""
        return self._shelf.list_keys()

    def set_timeout(self, timeout: timedelta) -> None:
        """Say how long to wait for a key."""
        self.timeout = timeout

    def barrier(self, key: str, world_size: int, timeout: timedelta | None = None) -> None:
        """Wait until so many processes have come here."""
        if self.add(f"{key}/come", 1) == world_size:
            self.set(f"{key}/all", b"")
        self.wait([f"{key}/all"], timeout)

    def has_extended_api(self) -> bool:
        """Tell that it has `append`, `multi_get` and `multi_set`."""
        return True

    def abort(self, why: str) -> None:
        """Let all who wait for what will not come any more raise DistBackendError."""
        self._shelf.abort(why)

    def _refuse_to_wait_in_vain(self, keys: Sequence[str]) -> None:
        """Raise DistStoreError for keys that nobody could set: they are kept in this process, which runs alone."""
        if self._is_of_one and not active_children() and (missing := [key for key in keys if not self.check([key])]):
            raise DistStoreError(f"nobody set {', '.join(missing)}, and there is no other process that could")


class _Served(Store):
    """A store that one process serves at a port, and others reach there."""

    _is_of_one = False
    _served: ClassVar[dict[int, Server]] = {}  # by port: what threads of this process need no connection for

    def __init__(self, timeout: timedelta) -> None:
        self.timeout = timeout

    def _serve(self, host: str, port: int) -> int:
        """Keep the values in this process; return the port."""
        server = Server(host, port)
        self._served[server.port], self._shelf = server, server.shelf
        weakref.finalize(self, self._end, server.port)
        return server.port

    def _reach(self, host: str, port: int) -> None:
        """Let the values be those that are served there."""
        if (server := self._served.get(port)) is not None:
            self._shelf = server.shelf
            return
        self._shelf = Guest(host, port, self.timeout.total_seconds())
        weakref.finalize(self, self._shelf.close)

    @classmethod
    def _end(cls, port: int) -> None:
        cls._served.pop(port).close()


class TCPStore(_Served):
    """A store that one process serves (`is_master`; port 0: any that is free) and others reach by host and port.

    world_size: how many processes there are; the master waits for them unless told otherwise. timeout: how long to
    wait, for these and for keys. DistNetworkError: the port is taken, or nobody answers there.
    """

    def __init__(
        self, host_name: str, port: int, world_size: int | None = None, is_master: bool = False,
        timeout: timedelta = timedelta(minutes=5), wait_for_workers: bool = True, *_: Any, **__: Any,
    ) -> None:  # fmt: skip
        super().__init__(timeout)
        self.host, self.port = host_name, port
        if is_master:
            self.port = self._serve(host_name, port)
        else:
            self._reach(host_name, port)
        self.add("init/", 1)
        if is_master and wait_for_workers:
            self._wait_for_all(world_size or 1)

    def _wait_for_all(self, count: int) -> None:
        end = time.monotonic() + self.timeout.total_seconds()
        while (here := self.add("init/", 0)) < count:
            self._shelf.refuse_if_broken()
            if time.monotonic() > end:
                raise DistStoreError(f"Timed out after waiting for {count} processes: {here} have come")
            time.sleep(_AGAIN)


class FileStore(_Served):
    """A store that processes of one machine share by a file's path, in which the first of them says where it serves.

    With a world of one process the values stay in it, and no file is written.
    """

    _marks = 1
    _files: ClassVar[dict[str, Shelf]] = {}  # of worlds of one

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        super().__init__(timedelta(minutes=5))
        self.path = str(file_name)
        if world_size == 1:
            self._is_of_one, self._shelf = True, self._files.setdefault(self.path, Shelf())
            return
        if not self._serves_first():
            self._reach("localhost", self._port_there())

    def _serves_first(self) -> bool:
        """Serve, and write where, if the file is empty or not there; who makes it removes it. One at a time looks."""
        file, looking = Path(self.path), Path(f"{self.path}.looking")
        try:
            looking.touch(exist_ok=False)
        except FileExistsError:
            return False  # who looks now finds a port there, or writes one
        try:
            is_there = file.exists()
            if is_there and file.stat().st_size:
                return False
            file.write_text(f"{self._serve('localhost', 0)}\n")
        finally:
            looking.unlink()
        if not is_there:
            weakref.finalize(self, file.unlink, missing_ok=True)
        return True

    def _port_there(self) -> int:
        file, end = Path(self.path), time.monotonic() + self.timeout.total_seconds()
        while not (told := file.read_text() if file.exists() else "").endswith("\n"):
            if time.monotonic() > end:
                raise DistStoreError(f"{self.path} does not tell where a store is: it is from something else")
            time.sleep(_AGAIN)
        return int(told)


class HashStore(Store):
    """A store within a process."""


class PrefixStore(Store):
    """A store whose keys another one keeps, each after a prefix. It counts and lists the keys of the whole."""

    def __init__(self, prefix: str, store: Store) -> None:
        self.underlying_store, self.timeout = store, store.timeout
        self._prefix, self._shelf, self._marks = f"{store._prefix}{prefix}/", store._shelf, store._marks
        self._is_of_one = store._is_of_one


def _as_bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)
