"""A checkpoint being loaded: each of its storages is read once, put on its device, and given to all that share it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad.serialization.locations import Restore
from funcgrad.serialization.storages import Bytes, Storage, TypedStorage, native_order
from funcgrad.serialization.unpickling import Scan, StorageId

Fetch = Callable[[str, int], Bytes]


class Checkpoint:
    """Gives storages to an unpickler. `fetch(key, nbytes)` reads one's bytes, which are of byte order `order`."""

    def __init__(self, scan: Scan, fetch: Fetch, restore: Restore, order: str) -> None:
        self.users, self.fetch, self.restore, self.order = scan.users, fetch, restore, order
        self.storages: dict[str, Storage] = {}

    def storage(self, identity: Any) -> TypedStorage:
        """Return the storage that a pickle's persistent id names."""
        wanted = StorageId(identity)
        found = self.storages.get(wanted.key)
        if found is None:
            found = self.storages[wanted.key] = self._loaded(wanted)
        if wanted.view is not None:
            found = _part(found, wanted)
        return TypedStorage(found, wanted.kind.dtype)

    def _loaded(self, wanted: StorageId) -> Storage:
        data = self.fetch(wanted.key, wanted.nbytes)
        if wanted.kind.dtype is not None:
            data = native_order(data, wanted.kind.dtype, self.order)
        storage = Storage(data)
        storage.is_shared = self.users[wanted.key] > 1
        return self.restore(storage, wanted.location)


def _part(whole: Storage, wanted: StorageId) -> Storage:
    """Return the part of a storage that a view of it names, as torch before 0.4 wrote them."""
    assert wanted.view is not None
    _, offset, numel = wanted.view
    width = 1 if wanted.kind.dtype is None else wanted.kind.dtype.itemsize
    return Storage(whole.bytes[offset * width : (offset + numel) * width], whole.device)
