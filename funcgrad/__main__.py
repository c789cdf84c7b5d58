"""python -m funcgrad script.py [arguments]: run a PyTorch script on XLA, with funcgrad in torch's place."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence

from funcgrad.explain import compare_scripts
from funcgrad.standing_in import install, install_in_children
from funcgrad.standing_in.checking import Missing, missing_names
from funcgrad.standing_in.running import run_code, run_input, run_module, run_script

USAGE = """usage: python -m funcgrad [--check] script.py [arguments]
       python -m funcgrad [--check] -m module [arguments]
       python -m funcgrad [-c program | -] [arguments]
       python -m funcgrad compare stateful.py functional.py [--steps 50] [--out compare.html] [-- arguments]

Runs a PyTorch script with funcgrad in the place of torch; torch need not be installed. Without one, what standard input
holds, or a prompt.
--check   only report, with file and line, the names of torch that the script uses and funcgrad lacks"""


def main(given: Sequence[str]) -> int:
    """Run what the command line says; return the exit status."""
    words = list(given)
    if words[:1] == ["compare"]:
        install()
        return compare_scripts.main(words[1:], run_script)
    check = words[:1] == ["--check"]
    if check:
        words.pop(0)
    as_module = words[:1] == ["-m"]
    if as_module:
        words.pop(0)
    if words[:1] in (["-h"], ["--help"]):
        print(USAGE)
        return 0
    install()
    install_in_children()
    if words[:1] == ["-c"] and len(words) > 1 and not check:
        return run_code(words[1], words[2:])
    if words[:1] in ([], ["-"]) and not (check or as_module):
        return run_input(words)
    if not words or (words[0].startswith("-") and not as_module):
        print(USAGE, file=sys.stderr)
        return 2
    target, *arguments = words
    lacking = _lacking(target, as_module)
    for name in lacking:
        print(name, file=sys.stderr)
    if check:
        print(f"{target}: {len(lacking) or 'no'} missing name{'s' * (len(lacking) != 1)}")
        return int(bool(lacking))
    return run_module(target, arguments) if as_module else run_script(target, arguments)


def _lacking(target: str, as_module: bool) -> list[Missing]:
    """Return the names that will be missing; none where the file itself is (running it says so)."""
    if as_module:
        spec = importlib.util.find_spec(target)
        path = spec.origin if spec is not None else None
    else:
        path = target
    try:
        return missing_names(path) if path else []
    except (OSError, SyntaxError, UnicodeDecodeError):
        return []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
