"""The older torchrun: it tells each process its rank on this machine by an argument too."""

from __future__ import annotations

from collections.abc import Sequence

from funcgrad.distributed.run import get_args_parser, run

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> None:
    """Do what a command line says (the process's own if None)."""
    parser = get_args_parser()
    parser.add_argument("--use-env", "--use_env", action="store_true", help="tell ranks by the environment only")
    run(parser.parse_args(args))


if __name__ == "__main__":
    main()
