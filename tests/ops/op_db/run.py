"""Runs the checks over entries: what holds, and the first difference of each check that does not."""

from __future__ import annotations

import gc
import re
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
import torch

from tests.ops.op_db import checks
from tests.ops.op_db.compare import Yardstick, compare
from tests.ops.op_db.convert import NoCounterpartError, name_of, read
from tests.ops.op_db.entries import function_of, is_left_out, set_aside, title

DTYPES = ("float32", "float64", "int64", "bool", "bfloat16", "float16", "complex64")
CHECKS = ("forward", "gradient", "gradgrad", "jvp", "forms", "memory", "errors")
_PER_DTYPE: dict[str, Callable[..., Iterator[checks.Case]]] = {
    "forward": checks.forward,
    "gradient": checks.gradient,
    "gradgrad": checks.double_backward,
    "jvp": checks.forward_mode,
    "forms": checks.forms,
    "memory": checks.memory,
}
SECONDS = 240  # for one check of one entry in one dtype


class Failure(NamedTuple):
    """What fell short: one line."""

    entry: str
    check: str
    dtype: str
    what: str

    def __str__(self) -> str:
        return f"{self.entry}  {self.check}  {self.dtype}  {self.what}"


class Outcome(NamedTuple):
    """What came of an entry: the checks that apply to it, what fell short, and how many samples have no counterpart."""

    entry: str
    checks: tuple[str, ...]
    failures: list[Failure]
    absent: int


class TookLongerError(Exception):
    """A check took longer than SECONDS."""


def run(entry: Any, wanted: Iterable[str], kinds: Iterable[str], count: int | None) -> Outcome:
    """Run checks of an entry in some dtypes, on `count` samples each (None: all)."""
    try:
        function_of(entry)
    except AttributeError as error:
        return Outcome(title(entry), tuple(wanted), [Failure(title(entry), "name", "", str(error))], 0)
    applying: list[str] = []
    failures: list[Failure] = []
    absent = 0
    for check in wanted:
        if check in set_aside(title(entry)):
            continue
        for kind in _dtypes(entry, check, kinds):
            applying.append(check)
            cases = _error_cases(entry) if check == "errors" else None
            with _limited(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found, without = _errors(cases) if cases is not None else _checked(entry, check, kind, count)
            absent += without
            failures += [Failure(title(entry), check, kind, what) for what in found[:1]]
    return Outcome(title(entry), tuple(dict.fromkeys(applying)), failures, absent)


def _dtypes(entry: Any, check: str, kinds: Iterable[str]) -> list[str]:
    """Return the dtypes in which an entry has a check; "" for one that has none."""
    if check == "errors":
        return [""] if entry.error_inputs_func is not None else []
    supported = entry.supported_dtypes("cpu")
    if check in ("gradient", "gradgrad", "jvp"):
        has = {
            "gradient": entry.supports_autograd,
            "gradgrad": entry.supports_gradgrad,
            "jvp": entry.supports_forward_ad,
        }
        supported = supported & entry.supported_backward_dtypes("cpu") if has[check] else set()
        kinds = [kind for kind in kinds if kind in ("float32", "float64", "complex64")]
        if check != "gradient" and "float64" in kinds:
            kinds = [kind for kind in kinds if kind != "float32"]
    if check == "forms":
        kinds = [kind for kind in kinds if kind in ("float32", "int64", "bool")]
    if check == "memory":
        kinds = ["float32" if torch.float32 in supported else "int64"]
    taken = [kind for kind in kinds if getattr(torch, kind) in supported]
    if check == "forward" and not taken and supported.isdisjoint(getattr(torch, kind) for kind in DTYPES):
        taken = sorted(map(name_of, supported))  # of 8-bit floats alone
    return taken


def _checked(entry: Any, check: str, kind: str, count: int | None) -> tuple[list[str], int]:
    found: list[str] = []
    absent = 0
    pending: list[tuple[checks.Case, Any]] = []
    try:
        cases = _PER_DTYPE[check](entry, getattr(torch, kind), count)
        while (case := next(cases, None)) is not None:
            try:
                pending.append((case, case.call()))
            except NoCounterpartError:
                absent += 1
            except Exception as error:  # any exception of ours is a finding
                found.append(_line(case.label, error))
    except NoCounterpartError:
        absent += 1
    except Exception as error:
        found.append(_line("", error))
    for case, results in pending:
        try:
            theirs = case.settle(case.theirs)
            yardstick = Yardstick(theirs, case.given, case.truth)
            compare(case.settle(_read(case, results)), theirs, yardstick, case.numbers)
        except Exception as error:
            found.append(_line(case.label, error))
    return found, absent


def _read(case: checks.Case, results: list[Any]) -> list[Any]:
    """Read results; where the program of all samples failed, compute this sample alone."""
    try:
        return [read(each) for each in results]
    except Exception:
        return [read(each) for each in case.call()]


def _error_cases(entry: Any) -> Any:
    return checks.errors(entry)


def _errors(cases: Any) -> tuple[list[str], int]:
    found: list[str] = []
    absent = 0
    try:
        for label, wanted, words, call in cases:
            try:
                for each in call():
                    read(each)
                found.append(f"{label}: nothing raised, torch raises {wanted.__name__}")
            except NoCounterpartError:
                absent += 1
            except wanted as error:
                if not str(error).strip() or not re.search(words, str(error)):
                    found.append(f"{label}: says {str(error)!r}, torch {words!r}")
            except Exception as error:
                found.append(f"{label}: torch raises {wanted.__name__}, not {_line('', error)}")
    except Exception as error:
        found.append(_line("", error))
    return found, absent


def _line(label: str, error: BaseException) -> str:
    kind = "" if type(error).__name__ == "DifferenceError" else f"{type(error).__name__}: "
    text = " ".join(str(error).split())[:240]
    return f"{label}: {kind}{text}" if label else f"{kind}{text}"


@contextmanager
def _limited() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TookLongerError(f"took longer than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run_all(
    entries: list[Any], wanted: Iterable[str], kinds: Iterable[str], count: int | None,
    tell: Callable[[Failure], None] = print,
) -> list[Outcome]:  # fmt: skip
    """Run checks over entries, but those that are left out; tell each failure as soon as it is seen."""
    outcomes = []
    for number, entry in enumerate(entries):
        if is_left_out(entry):
            continue
        outcome = run(entry, wanted, kinds, count)
        outcomes.append(outcome)
        for failure in outcome.failures:
            tell(failure)
        if number % 8 == 7:
            jax.clear_caches()
            gc.collect()
    return outcomes


def summary(outcomes: list[Outcome], left: int, wanted: Iterable[str]) -> str:
    """Return the one line: how many entries hold, check by check."""
    parts = []
    for check in wanted:
        having = [o for o in outcomes if check in o.checks]
        held = [o for o in having if not any(f.check in (check, "name") for f in o.failures)]
        parts.append(f"{check} {len(held)}/{len(having)}")
    absent = sum(o.absent for o in outcomes)
    left_aside = f"{left} left out, {absent} samples without a counterpart"
    version = torch.__version__.partition("+")[0]
    return f"op_db of torch {version}: {len(outcomes)} entries ({left_aside}); hold: {', '.join(parts)}"
