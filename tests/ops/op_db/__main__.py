"""`python -m tests.ops.op_db`: one line for each check of an entry that falls short, then how many entries hold.

All entries with all samples in all dtypes take about an hour on two cores; `--entries 'linalg.*' --samples 2` is quick.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_backend_optimization_level=0"  # compiles faster


def main() -> None:
    """Read the command line, run, print, write JSON."""
    from tests.ops.op_db.entries import selected
    from tests.ops.op_db.run import CHECKS, DTYPES, run_all, summary

    parser = argparse.ArgumentParser(prog="python -m tests.ops.op_db", description=__doc__)
    parser.add_argument("--entries", help="regular expression for whole names, with or without the variant")
    parser.add_argument("--from", dest="first", help="first letter of un-dotted names (_ comes before a)")
    parser.add_argument("--to", dest="last", help="last letter of un-dotted names")
    parser.add_argument("--checks", default=",".join(CHECKS), help="default: %(default)s")
    parser.add_argument("--dtypes", default=",".join(DTYPES), help="default: %(default)s")
    parser.add_argument("--samples", type=int, help="samples an entry, check and dtype; default: all")
    parser.add_argument("--json", type=Path, help="write every entry's outcome to this file")
    parser.add_argument("--references", action="store_true", help="torch's own definitions in Python, python_ref_db")
    given = parser.parse_args()
    entries = selected(given.entries, given.first, given.last, references=given.references)
    wanted, kinds = given.checks.split(","), given.dtypes.split(",")
    outcomes = run_all(entries, wanted, kinds, given.samples, lambda failure: print(failure, flush=True))
    line = summary(outcomes, len(entries) - len(outcomes), wanted)
    if given.json:
        content: dict[str, Any] = {"line": line, "entries": {}}
        for each in outcomes:
            content["entries"][each.entry] = {"checks": each.checks, "failures": [f[1:] for f in each.failures]}
        given.json.write_text(json.dumps(content, indent=1))
    print(line)
    sys.exit(any(each.failures for each in outcomes))


if __name__ == "__main__":
    main()
