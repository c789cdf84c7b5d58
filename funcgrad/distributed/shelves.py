"""Where processes leave bytes for each other, by key: in memory for threads, over TCP for processes.

Who asks for a key waits until it is there. What comes over the wire is texts, bytes and numbers: nothing is executed.
"""

from __future__ import annotations

import atexit
import socket
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from funcgrad._base.world import at_failure

_HEAD = 9  # bytes before the content of a piece: a letter, and how long that is
_AGAIN = 0.02  # seconds until a server that is not there yet is asked again
_FAREWELL = 60.0  # seconds that a server waits at the end for those that still read


class DistError(RuntimeError):
    """What goes wrong between processes."""


class DistBackendError(DistError):
    """A library for communication failed."""


class DistNetworkError(DistError):
    """A network failed."""


class DistStoreError(DistError):
    """A key is not in a store."""


_shelves: weakref.WeakValueDictionary[int, Shelf] = weakref.WeakValueDictionary()


class Shelf:
    """Bytes by key. Its methods are those that a client may call."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}
        self._changed = threading.Condition()
        self._broken: str | None = None
        _shelves[id(self)] = self

    def set(self, key: str, value: bytes) -> None:
        """Keep a value."""
        with self._changed:
            self._kept[key] = value
            self._changed.notify_all()

    def get(self, key: str, seconds: float) -> bytes:
        """Return a value, waiting for it. DistStoreError if it does not come in time, DistBackendError if never."""
        with self._changed:
            self.wait([key], seconds)
            return self._kept[key]

    def wait(self, keys: Sequence[str], seconds: float) -> None:
        """Wait until all keys are there; raises as `get` does."""
        end = time.monotonic() + seconds
        with self._changed:
            while missing := [key for key in keys if key not in self._kept]:
                self.refuse_if_broken()
                left = end - time.monotonic()
                if left <= 0:
                    raise DistStoreError(f"wait timeout after {round(seconds * 1000)}ms, keys: {', '.join(missing)}")
                self._changed.wait(left)

    def add(self, key: str, amount: int) -> int:
        """Add to a counter and return it."""
        with self._changed:
            total = int(self._kept.get(key, b"0")) + amount
            self.set(key, str(total).encode())
            return total

    def append(self, key: str, value: bytes) -> None:
        """Put a value after what is there."""
        with self._changed:
            self.set(key, self._kept.get(key, b"") + value)

    def check(self, keys: Sequence[str]) -> bool:
        """Tell whether all keys are there."""
        return all(key in self._kept for key in keys)

    def compare_set(self, key: str, expected: bytes, desired: bytes) -> bytes:
        """Set a value if the one there is the expected (b"": none is there); return what is there then."""
        with self._changed:
            if self._kept.get(key, b"") == expected:
                self.set(key, desired)
            return self._kept.get(key, expected)

    def delete_key(self, key: str) -> bool:
        """Forget a key; tell whether it was there."""
        with self._changed:
            return self._kept.pop(key, None) is not None

    def list_keys(self) -> list[str]:
        """Return the keys."""
        with self._changed:
            return list(self._kept)

    def refuse_if_broken(self) -> None:
        """Raise DistBackendError where what is waited for will not come any more."""
        if self._broken:
            raise DistBackendError(self._broken)

    def abort(self, why: str) -> None:
        """Let all who wait for what will not come any more raise DistBackendError."""
        with self._changed:
            self._broken = self._broken or why
            self._changed.notify_all()


class Server:
    """Gives the shelf of this process to others. host: where; port: 0 for any that is free."""

    def __init__(self, host: str, port: int) -> None:
        self.shelf = Shelf()
        near = host in ("localhost", "127.0.0.1")
        try:
            self._door = socket.create_server(("127.0.0.1" if near else "", port), backlog=128)
        except OSError as error:
            raise DistNetworkError(
                f"The server socket has failed to listen on any local network address. port: {port}, {error.strerror}"
            ) from None
        self.port: int = self._door.getsockname()[1]
        self._guests: set[threading.Thread] = set()
        threading.Thread(target=self._welcome, name="funcgrad-store", daemon=True).start()
        atexit.register(self._see_off)

    def close(self) -> None:
        """Take no more guests: the port is free. Those that are here may stay."""
        if not self._guests:
            atexit.unregister(self._see_off)
        with suppress(OSError):  # nobody may have come
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()

    def _welcome(self) -> None:
        while True:
            try:
                guest, _ = self._door.accept()
            except OSError:  # it is closed
                return
            host = threading.Thread(target=self._serve, args=(guest,), name="funcgrad-store-guest", daemon=True)
            self._guests.add(host)
            host.start()

    def _serve(self, guest: socket.socket) -> None:
        """Do what a guest asks until it leaves. One that has asked something and leaves without a word has failed."""
        is_member = False
        try:
            while (asked := _received(guest)) != ["leave"]:
                _send(guest, _answer(self.shelf, asked))
                is_member = True
        except (OSError, KeyError, ValueError):  # the last two: what came is none of what a `Guest` sends
            if is_member:
                self.shelf.abort("Connection closed by peer: a process of the group has ended")
        finally:
            guest.close()
            self._guests.discard(threading.current_thread())

    def _see_off(self) -> None:
        """Wait for those that still read what this process has left for them."""
        end = time.monotonic() + _FAREWELL
        while self._guests and time.monotonic() < end:
            time.sleep(_AGAIN)


_CALLED = frozenset(name for name in vars(Shelf) if not name.startswith("_"))  # by others


def _answer(shelf: Shelf, asked: Any) -> list[Any]:
    name, *arguments = asked
    if name not in _CALLED:
        return [DistStoreError.__name__, f"a store has no {name!r}"]
    try:
        return ["", getattr(shelf, name)(*arguments)]
    except DistError as error:
        return [type(error).__name__, str(error)]


def _abort_all(why: str) -> None:
    _Failures.count += 1
    for reference in _shelves.valuerefs():  # a list: other threads may add some
        if (shelf := reference()) is not None:
            shelf.abort(why)


class _Failures:
    count = 0  # of processes of this one, for which others waited perhaps


at_failure.append(_abort_all)
_ERRORS = {kind.__name__: kind for kind in (DistBackendError, DistStoreError)}


class Guest:
    """The shelf of another process. DistNetworkError if that does not answer in time."""

    def __init__(self, host: str, port: int, seconds: float) -> None:
        self._lock, end, failures = threading.Lock(), time.monotonic() + seconds, _Failures.count
        while True:
            try:
                self._line = socket.create_connection((host, port))
                break
            except OSError as error:
                if time.monotonic() > end or _Failures.count > failures:
                    raise DistNetworkError(
                        "The client socket has failed to connect to any network address of "
                        f"({host}, {port}): {error.strerror}"
                    ) from None
                time.sleep(_AGAIN)
        self._line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        atexit.register(self.close)

    def close(self) -> None:
        """Leave."""
        atexit.unregister(self.close)
        with suppress(OSError):  # the server has left before
            _send(self._line, ["leave"])
        self._line.close()

    def _ask(self, name: str, *arguments: Any) -> Any:
        with self._lock:
            try:
                _send(self._line, [name, *arguments])
                failed, found = _received(self._line)
            except OSError:
                raise DistBackendError("Connection closed by peer: the process of rank 0 has ended") from None
        if failed:
            raise _ERRORS[failed](found)
        return found

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in _CALLED:
            raise AttributeError(name)
        return lambda *arguments: self._ask(name, *arguments)


def _send(line: socket.socket, pieces: Any) -> None:
    line.sendall(_packed(pieces))


def _received(line: socket.socket) -> Any:
    head = _exactly(line, _HEAD)
    return _unpacked(head + _exactly(line, int.from_bytes(head[1:], "little")))


def _exactly(line: socket.socket, count: int) -> bytes:
    """Return so many bytes of a connection. ConnectionError: it has ended."""
    found = bytearray()
    while len(found) < count:
        part = line.recv(min(count - len(found), 1 << 20))
        if not part:
            raise ConnectionError
        found += part
    return bytes(found)


def _packed(pieces: Any) -> bytes:
    """Return texts, bytes, numbers, None and lists of them as bytes: a letter, the length, the content."""
    if isinstance(pieces, (list, tuple)):
        kind, content = b"l", b"".join(map(_packed, pieces))
    elif isinstance(pieces, str):
        kind, content = b"s", pieces.encode()
    elif isinstance(pieces, bytes):
        kind, content = b"b", pieces
    elif pieces is None:
        kind, content = b"n", b""
    else:
        kind, content = b"f" if isinstance(pieces, float) else b"i", str(pieces + 0).encode()  # of a bool: 0 or 1
    return kind + len(content).to_bytes(8, "little") + content


_READ: dict[bytes, Callable[[bytes], Any]] = {
    b"s": bytes.decode, b"b": bytes, b"n": lambda _: None, b"f": float, b"i": int,
}  # fmt: skip


def _unpacked(sent: bytes) -> Any:
    kind, content = sent[:1], sent[_HEAD:]
    if kind != b"l":
        return _READ[kind](content)
    found, start = [], 0
    while start < len(content):
        end = start + _HEAD + int.from_bytes(content[start + 1 : start + _HEAD], "little")
        found.append(_unpacked(content[start:end]))
        start = end
    return found
