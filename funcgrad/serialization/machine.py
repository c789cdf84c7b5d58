"""Pickle's stack machine, which by itself runs nothing that a file names: what a name gives is left to a subclass."""

from __future__ import annotations

import struct
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any, BinaryIO, NoReturn

_CORRUPT = (IndexError, KeyError, ValueError, TypeError, AttributeError, OverflowError, RecursionError, struct.error)
_PYTHON_2 = {"__builtin__": "builtins", "copy_reg": "copyreg"}
_LONGEST_NAME = 1000
_CHUNK = 1 << 24  # a length in the file is believed only as far as bytes follow it
_LARGEST_KEY = 10_000  # elements of a tuple used as a key: hashing a small file's nested tuples can take for ever


class Machine:
    """Reads one pickle.

    You write: `find`, `call`, `new`, `build`, `persistent`.
    You get: `load`, which reads protocols 2 to 5 and raises UnpicklingError for anything malformed.
    """

    def __init__(self, file: BinaryIO, encoding: str = "utf-8") -> None:
        self.file, self.encoding = file, encoding
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []
        self.memo: dict[int, Any] = {}

    def find(self, module: str, name: str) -> Any:
        """Return what a global stands for."""
        raise UnpicklingError(f"Unsupported global: GLOBAL {module}.{name}")

    def call(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        """Return what REDUCE gives for `function(*arguments)`."""
        raise UnpicklingError(f"Trying to call reduce for unrecognized function {function}")

    def new(self, kind: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Return a new object of `kind`, not yet initialized."""
        raise UnpicklingError(f"Can not create an object of {kind}")

    def build(self, instance: Any, state: Any) -> None:
        """Give `instance` the state that was saved."""
        raise UnpicklingError(f"Can not set the state of {type(instance)}")

    def persistent(self, identity: Any) -> Any:
        """Return what lies outside the pickle under `identity`."""
        raise UnpicklingError("unsupported persistent id encountered")

    def extend(self, target: Any, items: list[Any]) -> None:
        """Append to a list."""
        if type(target) is not list:
            raise UnpicklingError(f"Can only append to lists, but got {type(target)}")
        target.extend(items)

    def set_items(self, target: Any, items: list[Any]) -> None:
        """Set keys of a dict; keys and values alternate."""
        if type(target) not in (dict, OrderedDict, Counter, defaultdict):
            raise UnpicklingError(
                f"Can only set items of dict, collections.OrderedDict, collections.Counter, but got {type(target)}"
            )
        for key, value in zip(items[::2], items[1::2], strict=True):
            target[checked_key(key)] = value

    def add_items(self, target: Any, items: list[Any]) -> None:
        """Add to a set."""
        if type(target) is not set:
            raise UnpicklingError(f"Can only add to sets, but got {type(target)}")
        target.update(map(checked_key, items))

    def load(self) -> Any:
        """Read up to the end of the pickle and return its object."""
        read, steps = self.file.read, _STEPS
        try:
            while True:
                code = read(1)
                step = steps.get(code)
                if step is not None:
                    step(self)
                elif code == _STOP:
                    return self.stack.pop()
                elif not code:
                    self._ends_too_early()
                else:
                    raise UnpicklingError(f"Unsupported operand {code[0]}")
        except _CORRUPT as error:
            raise UnpicklingError(f"the pickle is malformed: {type(error).__name__}: {error}") from error

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes; UnpicklingError where the file ends too early."""
        if 0 <= count <= _CHUNK:
            data = self.file.read(count)
            return data if len(data) == count else self._ends_too_early()
        if count < 0:
            raise UnpicklingError(f"a length is negative: {count}")
        return self.take(_CHUNK) + self.take(count - _CHUNK)

    def number(self, layout: str) -> Any:
        """Return the next number, in `struct`'s layout."""
        known = _LAYOUTS[layout]
        return known.unpack(self.take(known.size))[0]

    def _ends_too_early(self) -> NoReturn:
        if self.file.tell() == 0:
            raise EOFError("Ran out of input")
        raise UnpicklingError("pickle data was truncated")

    def line(self) -> str:
        """Return the text up to the next line break."""
        data = self.file.readline(_LONGEST_NAME)
        if not data.endswith(b"\n"):
            raise UnpicklingError("pickle data was truncated")
        return data[:-1].decode()

    def marked(self) -> list[Any]:
        """Return what was pushed since the last mark."""
        items, self.stack = self.stack, self.below.pop()
        return items

    def push_global(self, module: Any, name: Any) -> None:
        """Push what a name stands for."""
        if not (isinstance(module, str) and isinstance(name, str)):
            raise UnpicklingError("a global needs two strings")
        self.stack.append(self.find(_PYTHON_2.get(module, module), name))

    def reduce(self) -> None:
        """Replace a function and its arguments by the result."""
        arguments = self.stack.pop()
        self.stack[-1] = self.call(self.stack[-1], tuple(arguments))

    def create(self, has_keywords: bool) -> None:
        """Replace a class and its arguments by a new object."""
        keywords = self.stack.pop() if has_keywords else {}
        arguments = self.stack.pop()
        self.stack[-1] = self.new(self.stack[-1], tuple(arguments), dict(keywords))

    def push_old_string(self, count: int) -> None:
        """Push a string of Python 2, which was bytes."""
        data = self.take(count)
        self.stack.append(data if self.encoding == "bytes" else data.decode(self.encoding))


def checked_key(key: Any) -> Any:
    """Return `key` unless it is a tuple so large that hashing it would never end or overflow the stack."""
    pending, seen = ([key] if type(key) in (tuple, frozenset) else []), 0
    while pending:
        for item in pending.pop():
            seen += 1
            if seen > _LARGEST_KEY:
                raise UnpicklingError("a key or set element is a tuple nested too deeply")
            if type(item) in (tuple, frozenset):
                pending.append(item)
    return key


Step = Callable[[Machine], None]


def _pushing(read: Callable[[Machine], Any]) -> Step:
    def step(machine: Machine) -> None:
        value = read(machine)  # which may exchange the stack
        machine.stack.append(value)

    return step


def _text(layout: str) -> Step:
    return _pushing(lambda m: m.take(m.number(layout)).decode("utf-8", "surrogatepass"))


def _bytes(layout: str) -> Step:
    return _pushing(lambda m: m.take(m.number(layout)))


def _tuple(count: int) -> Step:
    def step(machine: Machine) -> None:
        if len(machine.stack) < count:
            raise UnpicklingError("the pickle is malformed: its stack is empty")
        machine.stack[-count:] = [tuple(machine.stack[-count:])]

    return step


def _one(change: str) -> Step:
    """Change the second object from the top by the top one."""

    def step(machine: Machine) -> None:
        item = machine.stack.pop()
        getattr(machine, change)(machine.stack[-1], item)

    return step


def _many(change: str) -> Step:
    """Change the object below the mark by all that lies above it."""

    def step(machine: Machine) -> None:
        items = machine.marked()
        getattr(machine, change)(machine.stack[-1], items)

    return step


def _mark(machine: Machine) -> None:
    machine.below.append(machine.stack)
    machine.stack = []


def _append(machine: Machine) -> None:
    item = machine.stack.pop()
    machine.extend(machine.stack[-1], [item])


def _set_item(machine: Machine) -> None:
    value, key = machine.stack.pop(), machine.stack.pop()
    machine.set_items(machine.stack[-1], [key, value])


def _stack_global(machine: Machine) -> None:
    name, module = machine.stack.pop(), machine.stack.pop()
    machine.push_global(module, name)


def _pop(machine: Machine) -> None:
    if machine.stack:
        machine.stack.pop()
    else:
        machine.marked()


def _remember(index: Callable[[Machine], int]) -> Step:
    def step(machine: Machine) -> None:
        machine.memo[index(machine)] = machine.stack[-1]

    return step


def _long(layout: str) -> Step:
    return _pushing(lambda m: int.from_bytes(m.take(m.number(layout)), "little", signed=True))


def _python_2_int(machine: Machine) -> Any:
    line = machine.line()
    return line == "01" if line in ("00", "01") else int(line)


_STOP = b"."
_LAYOUTS = {layout: struct.Struct(layout) for layout in ("<B", "<H", "<I", "<i", "<Q", ">d")}
_STEPS: dict[bytes, Step] = {
    code.encode("latin1"): step
    for code, step in {
        "\x80": lambda m: m.take(1) and None,  # PROTO
        "\x95": lambda m: m.take(8) and None,  # FRAME
        "c": lambda m: m.push_global(m.line(), m.line()),
        "\x93": _stack_global,
        "R": Machine.reduce,
        "\x81": lambda m: m.create(has_keywords=False),
        "\x92": lambda m: m.create(has_keywords=True),
        "b": _one("build"),
        "Q": lambda m: m.stack.append(m.persistent(m.stack.pop())),
        "a": _append,
        "e": _many("extend"),
        "s": _set_item,
        "u": _many("set_items"),
        "\x90": _many("add_items"),
        "(": _mark,
        "0": _pop,
        "1": lambda m: m.marked() and None,
        "2": lambda m: m.stack.append(m.stack[-1]),
        "t": _pushing(lambda m: tuple(m.marked())),
        ")": _pushing(lambda m: ()),
        "\x85": _tuple(1),
        "\x86": _tuple(2),
        "\x87": _tuple(3),
        "N": _pushing(lambda m: None),
        "\x88": _pushing(lambda m: True),
        "\x89": _pushing(lambda m: False),
        "]": _pushing(lambda m: []),
        "}": _pushing(lambda m: {}),
        "\x8f": _pushing(lambda m: set()),
        "\x91": _pushing(lambda m: frozenset(map(checked_key, m.marked()))),
        "J": _pushing(lambda m: m.number("<i")),
        "K": _pushing(lambda m: m.number("<B")),
        "M": _pushing(lambda m: m.number("<H")),
        "I": _pushing(_python_2_int),
        "\x8a": _long("<B"),
        "\x8b": _long("<I"),
        "G": _pushing(lambda m: m.number(">d")),
        "X": _text("<I"),
        "\x8c": _text("<B"),
        "\x8d": _text("<Q"),
        "B": _bytes("<I"),
        "C": _bytes("<B"),
        "\x8e": _bytes("<Q"),
        "\x96": _pushing(lambda m: bytearray(m.take(m.number("<Q")))),
        "U": lambda m: m.push_old_string(m.number("<B")),
        "T": lambda m: m.push_old_string(m.number("<i")),
        "h": _pushing(lambda m: m.memo[m.number("<B")]),
        "j": _pushing(lambda m: m.memo[m.number("<I")]),
        "q": _remember(lambda m: m.number("<B")),
        "r": _remember(lambda m: m.number("<I")),
        "\x94": _remember(lambda m: len(m.memo)),
    }.items()
}
