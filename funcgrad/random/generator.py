"""Generators: where random numbers come from. On the CPU torch's own stream, on accelerators a JAX key held there.

With FUNCGRAD_RANDOM=device the CPU's generators hold a key too: nothing is drawn on the host, the numbers are JAX's.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from funcgrad._base import dtypes
from funcgrad._base.devices import Default
from funcgrad._base.devices import device as Device
from funcgrad._base.naming import WrittenInC
from funcgrad._program.renting import Rented
from funcgrad._program.run import flush
from funcgrad._tensor.interop import from_host, to_host
from funcgrad._tensor.tensor import Tensor
from funcgrad.random.mersenne import DEFAULT_SEED, MersenneTwister

_ALL32, _ALL64 = 2**32 - 1, 2**64 - 1
_KEY_STATE_BYTES = 16  # the seed, then the two words of the key
_EVERYWHERE_BY_KEY = os.environ.get("FUNCGRAD_RANDOM", "") == "device"


class Generator(metaclass=WrittenInC, called="torch._C.Generator"):
    """A source of random numbers: `stream` on the host, or `key`, a tensor on the device. One of the two is None.

    >>> Generator().manual_seed(5).initial_seed()
    5
    """

    __slots__ = ("_seed", "device", "key", "stream")
    device: Device
    stream: MersenneTwister | None
    key: Tensor | None

    def __init__(self, device: Any = "cpu") -> None:
        self.device = Device(device)
        holds_key = _EVERYWHERE_BY_KEY or self.device.type != "cpu"
        self.stream = None if holds_key else MersenneTwister()
        self._seed = DEFAULT_SEED
        self.key = self._key_of(DEFAULT_SEED) if holds_key else None

    def manual_seed(self, seed: int) -> Generator:
        """Start anew from `seed`, an int of 64 bits with or without sign (else ValueError); returns the generator."""
        if not isinstance(seed, (int, np.integer, Tensor)):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        self._seed = checked_seed(seed)
        if self.stream is not None:
            self.stream.reseed(self._seed)
        else:
            self.key = self._key_of(self._seed)
        return self

    def seed(self) -> int:
        """Start anew from a seed that the operating system gives, and return it."""
        self.manual_seed(int.from_bytes(os.urandom(8), "little"))
        return self._seed

    def initial_seed(self) -> int:
        """Return the seed that the present numbers started from."""
        return self._seed if self.stream is None else self.stream.seed

    def get_state(self) -> Tensor:
        """Return all that decides the coming numbers, as a tensor of uint8; the CPU's bytes are torch's."""
        if self.stream is not None:
            return from_host(np.frombuffer(self.stream.state_bytes(), np.uint8), device="cpu")
        assert self.key is not None
        state = self._seed.to_bytes(8, "little") + to_host(self.key).tobytes()
        return from_host(np.frombuffer(state, np.uint8), device="cpu")

    def set_state(self, new_state: Tensor) -> Generator:
        """Take up a state that `get_state` gave. TypeError: no tensor of uint8. RuntimeError: no such state."""
        if not isinstance(new_state, Tensor) or new_state.dtype is not dtypes.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        state = to_host(new_state).tobytes()
        if self.stream is not None:
            self.stream.set_state_bytes(state)
            return self
        if len(state) != _KEY_STATE_BYTES:
            raise RuntimeError(f"RNG state is wrong size: expected {_KEY_STATE_BYTES} bytes, but got {len(state)}")
        self._seed = int.from_bytes(state[:8], "little")
        self.key = from_host(np.frombuffer(state[8:], np.uint32), device=self.device)
        return self

    def clone_state(self) -> Generator:
        """Return another generator that will give the same numbers."""
        return _restored(self.device, self.key is not None, to_host(self.get_state()).tobytes())

    clone = clone_state

    def get_offset(self) -> int:
        """Refuse, as torch's CPU generator does: only its GPU generators count how far they are."""
        raise RuntimeError(f"{self.device.type.upper()} Generator does not use offset")

    def set_offset(self, offset: int) -> Generator:
        """Refuse, as torch's CPU generator does."""
        raise RuntimeError(f"{self.device.type.upper()} Generator does not use offset")

    def _key_of(self, seed: int) -> Tensor:
        return from_host(np.array([seed >> 32, seed & _ALL32], np.uint32), device=self.device)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.device, self.key is not None, to_host(self.get_state()).tobytes())


def _restored(device: Device, holds_key: bool, state: bytes) -> Generator:
    generator = object.__new__(Generator)
    generator.device, generator.key, generator._seed = device, None, DEFAULT_SEED
    generator.stream = None if holds_key else MersenneTwister()
    return generator.set_state(from_host(np.frombuffer(state, np.uint8), device="cpu"))


def checked_seed(seed: Any) -> int:
    """Return a seed as 64 bits; negative ones are taken modulo 2^64."""
    seed = int(seed)
    if not -(2**63) <= seed <= _ALL64:
        raise ValueError("Overflow when unpacking long long")
    return seed & _ALL64


default_generator = Generator()
_defaults: dict[Device, Generator] = {Device("cpu"): default_generator}


class _Thread(threading.local):
    """The generators that serve one thread alone: a DataLoader's worker draws from its own, as torch's processes do."""

    seed: int | None = None
    own: dict[Device, Generator]


_thread = _Thread()


def seed_this_thread(seed: int) -> None:
    """Let this thread draw from generators of its own from now on, which start from `seed`."""
    _thread.seed, _thread.own = checked_seed(seed), {}


def chosen(generator: Any, device: Any) -> Generator:
    """Return the generator that was named, or the one that serves `device`. Raises TypeError for what is none.

    device: None where nobody named one. Such tensors go to JAX's default device, and yet their numbers are those of
    torch's CPU: a net and the order of its data come out the same wherever a script runs.
    """
    if generator is None:
        return generator_of((Default.device or "cpu") if device is None else device)
    if not isinstance(generator, Generator):
        raise TypeError(f"argument 'generator' must be torch.Generator, not {type(generator).__name__}")
    return generator


def generator_of(device: Any) -> Generator:
    """Return the generator that serves tensors on `device` when none is named; it starts from the last manual seed."""
    device = Device(device)
    if _thread.seed is not None:
        found = _thread.own.get(device)
        if found is None:
            found = _thread.own[device] = Generator(device).manual_seed(_thread.seed)
        return found
    if device.type != "cpu" and device.index is None:
        device = Device(device.type, 0)
    found = _defaults.get(device)
    if found is None:
        found = Generator(device).manual_seed(default_generator.initial_seed())
        found = _defaults.setdefault(device, found)
    return found


_seeds: set[int] = set()  # that the default generators began at


def manual_seed(seed: int) -> Generator:
    """Start the default generators of all devices anew from `seed`; returns the CPU's."""
    if _thread.seed is not None:
        seed_this_thread(seed)
        return generator_of("cpu")
    seed = checked_seed(seed)
    if seed in _seeds and Rented.began():
        flush()  # what was recorded before belongs to what was run before
        for each in Rented.began():
            each.begin_again()
    _seeds.add(seed)
    for generator in _defaults.values():
        generator.manual_seed(seed)
    return default_generator


def seed() -> int:
    """Start the default generators anew from a seed that the operating system gives, and return it."""
    return manual_seed(Generator().seed()).initial_seed()


def initial_seed() -> int:
    """Return the seed that the CPU's default generator started from."""
    return generator_of("cpu").initial_seed()


def get_rng_state() -> Tensor:
    """Return the state of the CPU's default generator, a tensor of uint8."""
    return generator_of("cpu").get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Take up a state that `get_rng_state` gave."""
    generator_of("cpu").set_state(new_state)


def snapshot() -> list[tuple[Generator, Any]]:
    """Return where all default generators stand; one that holds a key is not waited for."""
    return [(g, g.stream.state_bytes() if g.stream is not None else g.key._current()) for g in _defaults.values()]  # type: ignore[union-attr]  # one of the two is there


@contextmanager
def as_in(taken: list[tuple[Generator, Any]]) -> Iterator[None]:
    """Let the default generators give the numbers of a snapshot inside; put them back afterwards."""
    before = snapshot()
    _stand(taken)
    try:
        yield
    finally:
        _stand(before)


def key_now() -> Tensor:
    """Return a key that follows from where the CPU's default generator stands, which stays where it is."""
    if default_generator.key is not None:
        return default_generator.key.clone()
    following = default_generator.clone_state().stream
    assert following is not None
    return from_host(following.words32(2))


@contextmanager
def drawn_by(key: Tensor | None) -> Iterator[None]:
    """Let the CPU's default generator draw from a key inside, which moves on; None: nothing changes."""
    before = default_generator.stream, default_generator.key
    if key is not None:
        default_generator.stream, default_generator.key = None, key
    try:
        yield
    finally:
        default_generator.stream, default_generator.key = before


def _stand(taken: list[tuple[Generator, Any]]) -> None:
    for generator, state in taken:
        if generator.stream is not None:
            generator.stream.set_state_bytes(state)
        else:
            generator.key = Tensor._of(state)


@contextmanager
def fork_rng(
    devices: Iterable[Any] | None = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str | None = None,
) -> Iterator[None]:
    """Put all default generators back, after the block, to where they were before it.

    devices: only these (and the CPU) are set back; a number means that device of `device_type` ("cuda").
    """
    if not enabled:
        yield
        return
    named = [] if devices is None else _named(devices, device_type or "cuda")
    # The meta device's generator has no numbers to keep.
    drawn = [generator for generator in _defaults.values() if generator.device.type != "meta"]
    forked = drawn if devices is None else [default_generator, *named]
    states = [generator.get_state() for generator in forked]
    try:
        yield
    finally:
        for generator, state in zip(forked, states, strict=True):
            generator.set_state(state)


def _named(devices: Iterable[Any], device_type: str) -> list[Generator]:
    return [generator_of(Device(device_type, d) if isinstance(d, int) else Device(d)) for d in devices]
