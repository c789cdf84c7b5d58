"""torchrun: start a script several times, each a process of a group: `python -m funcgrad -m torch.distributed.run`.

Of torchrun's options those that say how many processes there are, who they are and where they meet do what they say;
those of restarts, logs and health checks are accepted.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from funcgrad.distributed.elastic import ChildFailedError, ProcessFailure, get_free_port

__all__ = ["get_args_parser", "main", "parse_args", "run"]
_LOOK = 0.05  # seconds between two looks at whether a process has ended
_GRACE = 30.0  # seconds that processes have to end when one has failed
_ACCEPTED = (
    "rdzv-backend", "rdzv-id", "rdzv-conf", "max-restarts", "monitor-interval", "start-method", "role", "log-dir",
    "redirects", "tee", "local-ranks-filter", "local-addr", "logs-specs", "numa-binding", "signals-to-handle",
    "event-log-handler", "shutdown-timeout",
)  # fmt: skip


def get_args_parser() -> argparse.ArgumentParser:
    """Return the parser of torchrun's options."""
    parser = argparse.ArgumentParser(prog="torchrun", description="Start a script as several processes.")
    _add(parser, "nnodes", "1", "machines: a number, or a least and a most of which the least is taken")
    _add(parser, "nproc-per-node", "1", "processes on this machine: a number, auto, cpu or gpu")
    _add(parser, "node-rank", 0, "which of the machines this one is", kind=int)
    _add(parser, "master-addr", "127.0.0.1", "where the process of rank 0 is")
    _add(parser, "master-port", 29500, "and at which port it serves the others", kind=int)
    _add(parser, "rdzv-endpoint", "", "host:port, in the place of both")
    parser.add_argument("--standalone", action="store_true", help="one machine, and any port that is free")
    parser.add_argument("-m", "--module", action="store_true", help="the script is a module's name")
    parser.add_argument("--no-python", "--no_python", action="store_true", help="the script is a program")
    parser.add_argument("--run-path", "--run_path", action="store_true", help="accepted")
    for name in _ACCEPTED:
        _add(parser, name, None, "accepted")
    parser.add_argument("training_script", help="the script")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER, help="its arguments")
    return parser


def _add(parser: argparse.ArgumentParser, name: str, default: Any, told: str, *, kind: Any = str) -> None:
    names = dict.fromkeys((f"--{name}", f"--{name.replace('-', '_')}"))
    parser.add_argument(*names, dest=name.replace("-", "_"), default=default, type=kind, help=told)


def parse_args(args: Sequence[str] | None = None) -> argparse.Namespace:
    """Return what a command line says."""
    return get_args_parser().parse_args(args)


def run(args: argparse.Namespace) -> None:
    """Start the processes and wait for them. ChildFailedError: one did not end well; the others are ended then."""
    here, machines = _processes(args.nproc_per_node), int(args.nnodes.partition(":")[0])
    host, port = _meeting(args)
    processes = []
    for local in range(here):
        rank = args.node_rank * here + local
        told = {
            "RANK": rank, "LOCAL_RANK": local, "WORLD_SIZE": machines * here, "LOCAL_WORLD_SIZE": here,
            "GROUP_RANK": args.node_rank, "GROUP_WORLD_SIZE": machines, "ROLE_RANK": rank,
            "ROLE_WORLD_SIZE": machines * here, "MASTER_ADDR": host, "MASTER_PORT": port,
            "TORCHELASTIC_RUN_ID": args.rdzv_id or "none", "TORCHELASTIC_RESTART_COUNT": 0,
            "TORCHELASTIC_MAX_RESTARTS": args.max_restarts or 0,
        }  # fmt: skip
        processes.append(
            subprocess.Popen(_command(args, local), env=_surroundings(here) | {k: str(v) for k, v in told.items()})
        )
    try:
        _wait_for(processes, args.training_script)
    finally:
        _end(processes)


def main(args: Sequence[str] | None = None) -> None:
    """Do what a command line says (the process's own if None)."""
    run(parse_args(args))


def _processes(told: str) -> int:
    if told.isdigit():
        return int(told)
    if told not in ("auto", "cpu", "gpu"):
        raise ValueError(f"Unsupported nproc_per_node value: {told}")
    return (os.cpu_count() or 1) if told == "cpu" else 1  # one process drives all accelerators


def _meeting(args: argparse.Namespace) -> tuple[str, int]:
    """Return where the process of rank 0 serves the others."""
    if args.standalone:
        return "127.0.0.1", get_free_port()
    host, _, port = args.rdzv_endpoint.partition(":")
    return host or args.master_addr, int(port or args.master_port)


def _command(args: argparse.Namespace, local: int) -> list[str]:
    told = [] if getattr(args, "use_env", True) else [f"--local-rank={local}"]
    script = [args.training_script, *told, *args.training_script_args]
    if args.no_python:
        return script
    return [sys.executable, "-m", "funcgrad", *(["-m"] if args.module else []), *script]


def _surroundings(here: int) -> dict[str, str]:
    """Return the environment of a process: several on one machine have a core each, as torchrun says."""
    return ({"OMP_NUM_THREADS": "1"} if here > 1 else {}) | dict(os.environ)


def _wait_for(processes: Sequence[subprocess.Popen[bytes]], name: str) -> None:
    while any(process.poll() is None for process in processes):
        if any(process.poll() for process in processes):
            break
        time.sleep(_LOOK)
    failed = {
        rank: ProcessFailure(rank, process.pid, process.returncode, "<N/A>")
        for rank, process in enumerate(processes)
        if process.poll()
    }
    if failed:
        raise ChildFailedError(name, failed)


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """End those that still run."""
    left = [process for process in processes if process.poll() is None]
    for process in left:
        process.terminate()
    end = time.monotonic() + _GRACE
    for process in left:
        try:
            process.wait(max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()


if __name__ == "__main__":
    main()
